// A server: one that speaks borgstore's REST protocol (repository layer, section 1.7), or one that serves a repository's folder
// as it is, with a listing of its files beside them, since their names can't be guessed.

import { misuse } from '../errors.js'

const REST = 'application/vnd.x.borgstore.rest.v1'
/** The listing: `{ "files": [[name, size], ...] }`, names as paths below the repository. */
export const LISTING = 'portaborg-listing.json'

/** As many requests as a browser sends to one server at once. */
const REQUESTS_AT_ONCE = 6
/** How often a request is tried, and how long is waited before it is tried again, in milliseconds. */
const TRIES = 3
const PAUSE = 500

export class HttpSource {
  /** Requests that were sent, and bytes that came. */
  stats = { requests: 0, bytes: 0 }
  #url
  #init
  #files
  #free = REQUESTS_AT_ONCE
  #waiting = []

  /** `files` are pairs of name and size where the server lists nothing. */
  constructor(url, init, files) {
    this.#url = url
    this.#init = init
    this.#files = files && new Map(files)
  }

  /** Finds out which kind of server it is. `init` is what `fetch` takes, as far as it can be sent to a worker. */
  static async of(given, init = {}) {
    const base = globalThis.location?.href
    let url
    try {
      url = new URL(given, base)
    } catch {
      throw misuse(String(given), 'This is no URL.')
    }
    const headers = new Headers(init.headers)
    if (url.username || url.password) {
      const bytes = new TextEncoder().encode(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)
      headers.set('Authorization', `Basic ${btoa(String.fromCharCode(...bytes))}`)
      url.username = url.password = ''
    }
    url.hash = ''
    const { signal, ...rest } = { ...init, headers: [...headers] }
    const source = new HttpSource(url.href.replace(/\/+$/, ''), rest)
    await source.#detect(signal)
    return source
  }

  spec() {
    return { kind: 'http', args: [this.#url, this.#init, this.#files && [...this.#files]] }
  }

  async list(prefix) {
    if (this.#files) {
      const inside = [...this.#files].filter(([name]) => name.startsWith(`${prefix}/`))
      return inside.map(([name, size]) => ({ name, size }))
    }
    const found = []
    const walk = async (folder) => {
      const entries = await this.#get(`${folder}/`, {}, (response) => response.json())
      const inner = []
      for (const { name, size, directory } of entries ?? []) {
        if (directory) inner.push(walk(`${folder}/${name}`))
        else found.push({ name: `${folder}/${name}`, size })
      }
      await Promise.all(inner)
    }
    await walk(prefix)
    return found
  }

  async read(name, offset, length) {
    if (this.#files && !this.#files.has(name)) return null
    if (length === 0) return new Uint8Array(0)
    const range = { Range: `bytes=${offset}-${offset + length - 1}` }
    return this.#get(name, range, async (response) => {
      if (response.status === 416) return new Uint8Array(0)
      const bytes = new Uint8Array(await response.arrayBuffer())
      this.stats.bytes += bytes.length
      // A server that knows no ranges sends everything.
      return response.status === 206 ? bytes.subarray(0, length) : bytes.slice(offset, offset + length)
    })
  }

  async #detect(signal) {
    const isRest = (response) => response.headers.get('Content-Type')?.includes('json')
    const entries = await this.#get('config/', { signal }, async (response) => isRest(response) && response.json())
    if (Array.isArray(entries)) return
    const listing = await this.#get(LISTING, { signal }, (response) => response.json().catch(() => null))
    if (!Array.isArray(listing?.files)) {
      const text = `${this.#url} is neither a borgstore server nor a folder with a ${LISTING}.`
      throw misuse(this.#url, text, 'Repository.DoesNotExist')
    }
    this.#files = new Map(listing.files)
  }

  /** What `take` makes of the response; null if there is no such file. */
  async #get(name, { signal, ...headers }, take) {
    await this.#enter()
    try {
      for (let left = TRIES - 1; ; left -= 1) {
        try {
          return await this.#try(name, signal, headers, take)
        } catch (error) {
          if (left === 0 || error.status < 500 || signal?.aborted) throw error
          await new Promise((wake) => setTimeout(wake, PAUSE))
        }
      }
    } finally {
      this.#leave()
    }
  }

  async #try(name, signal, headers, take) {
    this.stats.requests += 1
    const all = new Headers(this.#init?.headers)
    all.set('Accept', REST) // and nothing else, or the server refuses
    for (const [header, value] of Object.entries(headers)) all.set(header, value)
    const response = await fetch(`${this.#url}/${name}`, { ...this.#init, headers: all, signal })
    if (response.status === 404 || response.status === 410) {
      await response.body?.cancel()
      return null
    }
    if (!response.ok && response.status !== 416) {
      await response.body?.cancel()
      const error = new Error(`the server says ${response.status} ${response.statusText}`.trim())
      error.status = response.status
      if (response.status === 401 || response.status === 403) error.name = 'NotAllowedError'
      throw error
    }
    return take(response)
  }

  async #enter() {
    if (this.#free > 0) this.#free -= 1
    else await new Promise((wake) => this.#waiting.push(wake))
  }

  #leave() {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
