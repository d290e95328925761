// A server: one that speaks borgstore's REST protocol (repository layer, section 1.7), or one that serves a repository's folder
// as it is, with a listing of its files beside them, since their names can't be guessed.

import { misuse } from '../errors.js'
import { Reads } from './reads.js'

const REST = 'application/vnd.x.borgstore.rest.v1'
/** The listing: `{ "files": [[name, size], ...] }`, names as paths below the repository. `portaborg listing` writes it. */
export const LISTING = 'portaborg-listing.json'

/** As many requests as a browser sends to one server at once. */
const REQUESTS_AT_ONCE = 6
/** How often a request is tried, and how long is waited at first, in milliseconds; each time twice as long. */
const TRIES = 4
const PAUSE = 250
/** What says that it may be better the next time, beside the errors of the server itself. */
const TRANSIENT = [408, 425, 429]
/** How a server answers to a command that it does not know. */
const UNKNOWN_COMMAND = [400, 405, 501]

export class HttpSource {
  /** Requests that were sent, and bytes that came as content of files. */
  stats = { requests: 0, bytes: 0 }
  #url
  #init
  #signal
  #files
  #reloading = null
  #free = REQUESTS_AT_ONCE
  #waiting = []
  #reads

  /** `files` are pairs of name and size where the server lists nothing. */
  constructor(url, init, files) {
    this.#url = url
    this.#init = init
    this.#files = files && new Map(files)
    this.#reads = new Reads({
      enter: () => this.#enter(),
      leave: () => this.#leave(),
      range: (name, offset, length) => this.#range(name, offset, length),
      gather: files ? undefined : (pieces) => this.#gather(pieces),
    })
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
    const root = url.href.replace(/\/+$/, '')
    const probe = new HttpSource(root, rest)
    probe.#signal = signal
    const source = new HttpSource(root, rest, await probe.#detect())
    source.#signal = signal
    source.stats = probe.stats
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
    if (!this.#files) return length === 0 ? new Uint8Array(0) : this.#reads.read(name, offset, length)
    const files = this.#files
    const size = files.get(name)
    if (size === undefined) return null
    const wanted = Math.max(0, Math.min(length, size - offset))
    if (wanted === 0) return new Uint8Array(0)
    const bytes = await this.#reads.read(name, offset, wanted)
    if (bytes?.length === wanted) return bytes
    return this.#readChanged(name, offset, length, files)
  }

  /** A file is not as the listing has it, so the repository has changed since; maybe the listing has, too. */
  async #readChanged(name, offset, length, files) {
    if (this.#files === files) {
      this.#reloading ??= this.#reload().finally(() => (this.#reloading = null))
      await this.#reloading
    }
    const size = this.#files.get(name)
    if (size === undefined) return null // as it is known now, it was removed
    const wanted = Math.max(0, Math.min(length, size - offset))
    const bytes = wanted === 0 ? new Uint8Array(0) : await this.#reads.read(name, offset, wanted)
    if (bytes?.length === wanted) return bytes
    const is = bytes ? 'is shorter' : 'is not there'
    throw new Error(
      `${LISTING} is out of date: it has ${name}, which ${is}. ` +
        'Run `portaborg listing REPO` after whatever changes the repository, and open it again',
    )
  }

  async #reload() {
    const files = await this.#listing()
    if (!files) throw new Error(`${LISTING} is gone: run \`portaborg listing REPO\``)
    this.#files = new Map(files)
  }

  /** The files of a server that lists nothing; undefined if it is one that does. */
  async #detect() {
    const isRest = (response) => response.headers.get('Content-Type')?.includes('json')
    const entries = await this.#get('config/', {}, async (response) => isRest(response) && response.json())
    if (Array.isArray(entries)) return undefined
    const files = await this.#listing()
    if (files) return files
    const text =
      `${this.#url} is neither a borgstore server nor a repository's folder with a ${LISTING}, ` +
      'which `portaborg listing REPO` writes.'
    throw misuse(this.#url, text, 'Repository.DoesNotExist')
  }

  /** What the listing has, as it is now and not as a cache has it. */
  async #listing() {
    const listing = await this.#get(LISTING, { cache: 'no-cache' }, (response) => response.json().catch(() => null))
    return Array.isArray(listing?.files) ? listing.files : null
  }

  /** Up to `length` bytes of a file; null if it is not there. */
  async #range(name, offset, length) {
    const headers = { Range: `bytes=${offset}-${offset + length - 1}` }
    return this.#send(name, { headers }, async (response) => {
      if (response.status === 416) return new Uint8Array(0)
      // A server that knows no ranges sends everything.
      const start = response.status === 206 ? 0 : offset
      return this.#count(await head(response, start, start + length))
    })
  }

  /** The bytes of all pieces, `[name, offset, length]`, behind each other; null if one can't be had, undefined if that is unknown. */
  async #gather(pieces) {
    const init = { method: 'POST', body: JSON.stringify(pieces) }
    try {
      return await this.#send('?cmd=gather', init, async (response) => {
        if (response.status === 416) return null
        return this.#count(new Uint8Array(await response.arrayBuffer()))
      })
    } catch (error) {
      if (UNKNOWN_COMMAND.includes(error.status)) return undefined
      throw error
    }
  }

  #count(bytes) {
    this.stats.bytes += bytes.length
    return bytes
  }

  /** What `take` makes of the response; null if there is no such file. */
  async #get(name, init, take) {
    await this.#enter()
    try {
      return await this.#send(name, init, take)
    } finally {
      this.#leave()
    }
  }

  /** The same for whoever has entered already. */
  async #send(name, init, take) {
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#try(name, init, take)
      } catch (error) {
        const { status } = error
        const isTransient = status === undefined || (status >= 500 && status !== 501) || TRANSIENT.includes(status)
        if (tried === TRIES || !isTransient || this.#signal?.aborted) throw error
        // A little more or less, so that what failed together is not tried again together.
        await this.#pause(PAUSE * 2 ** (tried - 1) * (0.75 + Math.random() / 2))
      }
    }
  }

  async #try(name, { headers = {}, ...init }, take) {
    this.stats.requests += 1
    const all = new Headers(this.#init?.headers)
    all.set('Accept', REST) // and nothing else, or the server refuses
    for (const [header, value] of Object.entries(headers)) all.set(header, value)
    const response = await fetch(`${this.#url}/${name}`, { ...this.#init, ...init, headers: all, signal: this.#signal })
    if (response.ok || response.status === 416) return take(response)
    await response.body?.cancel()
    if (response.status === 404 || response.status === 410) return null
    const error = new Error(`the server says ${response.status} ${response.statusText}`.trim())
    error.status = response.status
    if (response.status === 401 || response.status === 403) error.name = 'NotAllowedError'
    throw error
  }

  #pause(milliseconds) {
    return new Promise((wake, fail) => {
      const abort = () => {
        clearTimeout(timer)
        fail(this.#signal.reason)
      }
      const timer = setTimeout(() => {
        this.#signal?.removeEventListener('abort', abort)
        wake()
      }, milliseconds)
      this.#signal?.addEventListener('abort', abort, { once: true })
    })
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

/** The bytes of a response from `start` up to `end`; what comes behind them is not waited for. */
async function head(response, start, end) {
  const length = Number(response.headers.get('Content-Length') ?? Infinity)
  if (length <= end) return new Uint8Array(await response.arrayBuffer()).subarray(start, end)
  const pieces = []
  let at = 0
  const reader = response.body.getReader()
  while (at < end) {
    const { done, value } = await reader.read()
    if (done) break
    const piece = value.subarray(Math.min(value.length, Math.max(0, start - at)), Math.min(value.length, end - at))
    if (piece.length > 0) pieces.push(piece)
    at += value.length
  }
  await reader.cancel()
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let filled = 0
  for (const piece of pieces) {
    bytes.set(piece, filled)
    filled += piece.length
  }
  return bytes
}
