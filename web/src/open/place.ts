// Where a repository lies, as it is shown, remembered and opened.

import { sources, type Source } from 'portaborg'

export type Place =
  | { kind: 'handle'; label: string; handle: FileSystemDirectoryHandle }
  | { kind: 'files'; label: string; files: File[] }
  | { kind: 'http'; label: string; url: string; user?: string; password?: string }
  | { kind: 'served'; label: string; url: string; token: string }
  | { kind: 'sample'; label: string; url: string }

/** The source of a place; finds out what kind of server there is. */
export async function sourceOf(place: Place, signal: AbortSignal): Promise<Source> {
  switch (place.kind) {
    case 'handle':
      return sources.handle(place.handle)
    case 'files':
      return sources.files(place.files)
    case 'http': {
      const { user, password } = place
      const given = user !== undefined ? { headers: { Authorization: basic(user, password ?? '') } } : {}
      return sources.http(place.url, { ...given, credentials: 'omit', referrerPolicy: 'no-referrer', signal })
    }
    case 'served':
      return sources.http(place.url, { headers: { Authorization: `Bearer ${place.token}` }, signal })
    case 'sample':
      return sources.http(place.url, { signal })
  }
}

/** What requests of a place begin with, beside this page's own; undefined if it needs none. */
export function reachOf(place: Place): string | undefined {
  if (place.kind !== 'http') return undefined
  const { origin, pathname } = new URL(place.url)
  // A policy separates by what may stand in a path.
  return origin + `${pathname.replace(/\/*$/, '')}/`.replace(/;/g, '%3B').replace(/,/g, '%2C')
}

/** A place on a server; throws a TypeError for what is no URL. What the URL says of user and password is taken out of it. */
export function placeAt(text: string, user: string, password: string): Place {
  const url = new URL(/^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('This is no web address.')
  const given = user || decodeURIComponent(url.username)
  const secret = password || decodeURIComponent(url.password)
  url.username = url.password = url.hash = ''
  const address = url.href.replace(/\/+$/, '')
  return { kind: 'http', label: address.replace(/^https?:\/\//, ''), url: address, ...(given && { user: given, password: secret }) }
}

/** The repository that `portaborg web REPO` serves beside this page, if its token stands in the URL; the token leaves the URL. */
export function servedPlace(): Place | undefined {
  const given = new URLSearchParams(location.hash.slice(1))
  const [token, path] = [given.get('token'), given.get('repository')]
  if (!token || !path) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  const { href, origin } = new URL(path, document.baseURI)
  // Whoever made the address must not learn the token from another server.
  if (origin !== location.origin) return undefined
  const url = href.replace(/\/+$/, '')
  return { kind: 'served', label: given.get('name') || url, url, token }
}

/** The repository that comes with this page. */
export function samplePlace(label: string): Place {
  return { kind: 'sample', label, url: new URL('sample', document.baseURI).href }
}

function basic(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}
