// A repository that is written to, over the line to the worker that does it.

import { misuse, toError } from '../errors.js'
import { feedOf } from './entries.js'
import { Line } from './line.js'

const utf8 = new TextEncoder()
const NEEDED = ['list', 'read', 'write', 'delete', 'move']

export class WritableRepository {
  #line
  #feeds
  #lastFeed = 0

  constructor(line, feeds, { id, encryption, idHash, warnings }) {
    this.#line = line
    this.#feeds = feeds
    this.id = id
    this.encryption = encryption
    this.idHash = idHash
    this.warnings = warnings.map(toError)
  }

  /** Starts a worker, and has it make a repository (with `founding`), or open one. */
  static async start(store, options, founding, startWorker, wasm) {
    const { passphrase = '', key, signal } = options ?? {}
    const missing = NEEDED.find((op) => typeof store?.[op] !== 'function')
    if (missing) throw misuse('store', `A store has the functions ${NEEDED.join(', ')}: ${missing} is missing.`)
    if (typeof passphrase !== 'string' && !(passphrase instanceof Uint8Array)) {
      throw misuse('passphrase', 'A passphrase is a string or a Uint8Array.')
    }
    const feeds = new Map()
    const line = new Line(await startWorker(), {
      list: (prefix) => store.list(prefix),
      read: (name, offset, length) => store.read(name, offset, length),
      write: (name, content) => store.write(name, content),
      delete: (name) => store.delete(name),
      move: (from, to) => store.move(from, to),
      sync: () => store.sync?.(),
      next: (feed) => feeds.get(feed).next(),
    })
    try {
      const bytes = typeof passphrase === 'string' ? utf8.encode(passphrase) : passphrase.slice()
      const [op, last] = founding ? ['found', JSON.stringify(founding)] : ['open', key]
      const spec = store.spec?.() ?? null
      const facts = await line.call(op, [wasm, spec, bytes, last], { signal, transfer: [bytes.buffer] })
      return new WritableRepository(line, feeds, JSON.parse(facts))
    } catch (error) {
      line.close()
      throw error
    }
  }

  /** Makes an archive of entries. Until it is whole, there is none. */
  async create(name, entries, options = {}) {
    const { compression, chunkerParams, comment, tags, time, hostname, username, commandLine, cwd } = options
    const { onProgress, signal } = options
    const asked = { name, compression, chunkerParams, comment, hostname, username, commandLine, cwd }
    asked.tags = tags && Array.from(tags)
    asked.time = time === undefined ? undefined : Number(time)
    const id = ++this.#lastFeed
    const feed = feedOf(entries)
    this.#feeds.set(id, {
      next: async () => (await unlessAborted(feed.next(), signal)).value ?? null,
    })
    try {
      const facts = await this.#line.call('create', [JSON.stringify(asked), id], { signal, onTell: onProgress })
      return JSON.parse(facts)
    } catch (error) {
      throw feed.error?.error ?? error
    } finally {
      this.#feeds.delete(id)
      feed.return().catch(() => {}) // who gives entries may be in the middle of something
    }
  }

  /** Soft-deletes archives: names, `aid:` with the beginning of an id, or what has an `id`. Gives their ids. */
  async delete(archives, { signal } = {}) {
    const list = typeof archives === 'string' || archives?.id ? [archives] : Array.from(archives)
    const wanted = list.map((archive) => (archive?.id ? `aid:${archive.id}` : String(archive)))
    return JSON.parse(await this.#line.call('delete', [JSON.stringify(wanted)], { signal }))
  }

  /** Frees the space of what no archive needs any more; soft-deleted archives are gone for good then. */
  async compact({ threshold = 10, onProgress, signal } = {}) {
    const done = JSON.parse(await this.#line.call('compact', [Number(threshold)], { signal, onTell: onProgress }))
    return { ...done, problems: done.problems.map(toError) }
  }

  /** Ends the worker. */
  async close() {
    this.#line.close()
  }
}

/** What a promise gives, or the signal's reason. */
function unlessAborted(promise, signal) {
  if (!signal) return promise
  let abort
  const aborted = new Promise((_, reject) => {
    abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
  })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
