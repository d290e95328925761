// What went wrong when a repository was to be opened, in words, with what to do next.

import { DamagedError, MisuseError, PortaborgError, RefusedError, SourceError, UnsupportedError } from 'portaborg'
import { texts, type Advice } from '../texts'
import type { Place } from './place'

/** What to tell of an error. */
export async function explain(error: unknown, place: Place, { hasKey = false } = {}): Promise<Advice> {
  const t = texts.refusals
  if (error instanceof PortaborgError) {
    const { code, message } = error
    if (error instanceof RefusedError) {
      if (code === 'RepoKeyNotFoundError') return t.noKey
      return hasKey ? t.wrongPassphraseOrKey : t.wrongPassphrase
    }
    if (error instanceof UnsupportedError) {
      if (code === 'Repository.LegacyRepository') return t.borg1
      if (/restic|rustic/i.test(message)) return t.restic
      if (/beta/i.test(message)) return t.beta
      if (code === 'Repository.InvalidRepository') return t.noRepository(place.kind)
      return t.otherVersion(message)
    }
    if (error instanceof MisuseError) {
      if (code === 'Repository.InvalidRepository') return t.noRepository(place.kind)
      if (code === 'Repository.DoesNotExist') return t.noServer
    }
    if (error instanceof DamagedError) {
      return code === 'Repository.InvalidRepository' ? t.brokenConfig(message) : t.damaged(message)
    }
    if (error instanceof SourceError) {
      if (code === 'Repository.PathPermissionDenied') return place.kind === 'http' ? t.denied : t.noPermission
      if (place.kind === 'http') return connection(place.url, message)
      return t.storage(message)
    }
    return t.other(message)
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name === 'NotAllowedError') return place.kind === 'http' || place.kind === 'served' ? t.denied : t.noPermission
  if (name === 'NotFoundError') return t.gone
  if (place.kind === 'http') return connection(place.url, message)
  if (error instanceof TypeError) return navigator.onLine ? t.unreachable(place.label) : t.offline
  return t.other(message)
}

/** A browser does not tell a page why a request failed: what can be found out is. */
async function connection(address: string, message: string): Promise<Advice> {
  const t = texts.refusals
  const url = new URL(address)
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (/the server says/.test(message)) return t.server(message)
  if (!navigator.onLine && !isHere) return t.offline
  if (location.protocol === 'https:' && url.protocol === 'http:' && !isHere) return t.insecure
  try {
    // An answer that the page may not read shows that there is somebody.
    await fetch(address, { mode: 'no-cors', credentials: 'omit', signal: AbortSignal.timeout(PATIENCE) })
    return t.cors(location.origin)
  } catch {
    return t.unreachable(url.host)
  }
}

/** In milliseconds. */
const PATIENCE = 6000
