// The worker's side: one open repository, and the calls that come for it.

import { Cipher } from './cipher.js'
import { toFailure } from './errors.js'
import { ItemCache } from './item-cache.js'
import init, { Repository } from './module.js'
import { fromSpec } from './sources.js'

/** How often progress is told, and how long messages wait for a call that never waits, in milliseconds. */
const TELL_INTERVAL = 100
const BUSY_INTERVAL = 50

/** Serves the port: `postMessage(message, transfer)`, `onMessage(take)`. `sources` makes sources that only this platform has, and `itemStore` keeps items. */
export function serve(port, { load, sources, itemStore }) {
  const sinks = new Map()
  const questions = new Map()
  let repository
  let source
  let lastQuestion = 0

  const post = (message, transfer) => {
    if (source?.stats) message.stats = { ...source.stats }
    port.postMessage(message, transfer)
  }

  /** A source on the other side of the line. */
  const ask = (op) => (...args) =>
    new Promise((resolve, reject) => {
      questions.set(++lastQuestion, { resolve, reject })
      post({ kind: 'ask', id: lastQuestion, op, args })
    })

  const operations = {
    async open(_, wasm, spec, passphrase, key, itemCache) {
      await init({ module_or_path: await load(wasm) })
      source = spec ? fromSpec(spec, sources) : { list: ask('list'), read: ask('read') }
      const cache = itemCache === false ? undefined : await ItemCache.of(() => itemStore(itemCache))
      repository = await Repository.open(source, Cipher.ofPlatform(), cache, passphrase, key)
      passphrase.fill(0)
      return repository.facts()
    },
    archives: (_, deleted) => repository.archives(deleted),
    archive: (_, wanted) => repository.archive(wanted),
    items: (sink, archive, filter) => repository.items(archive, filter, sink),
    folder: (sink, archive, wanted) => repository.folder(archive, wanted, sink),
    content: (sink, chunks, start, end) => repository.content(chunks, start, end, sink),
    restore: (sink, archive, paths) => repository.restore(archive, paths, sink),
    damage: (sink, archive) => repository.damage(archive, sink),
    verify: (sink, data) => repository.verify(data, sink),
  }

  async function run({ id, op, args, credits }) {
    const sink = new Sink(id, credits, post)
    sinks.set(id, sink)
    try {
      const value = await operations[op](sink, ...args)
      post({ kind: 'done', id, value })
    } catch (thrown) {
      post({ kind: 'failed', id, failure: toFailure(thrown) })
    }
    sinks.delete(id)
  }

  port.onMessage((message) => {
    switch (message.kind) {
      case 'call':
        return run(message)
      case 'more':
        return sinks.get(message.id)?.more()
      case 'stop':
        return sinks.get(message.id)?.stop()
      case 'answer': {
        const { resolve, reject } = questions.get(message.id)
        questions.delete(message.id)
        return message.thrown ? reject(message.thrown) : resolve(message.value)
      }
    }
  })
}

/** Takes the results of a call, as the module hands them over. */
class Sink {
  #id
  #credits
  #post
  #wake = null
  #stopped = false
  #toldAt = -Infinity
  #restedAt = performance.now()

  constructor(id, credits, post) {
    this.#id = id
    this.#credits = credits
    this.#post = post
  }

  async emit(text, bytes) {
    if (this.#stopped) return false
    this.#post({ kind: 'next', id: this.#id, text, bytes }, bytes ? [bytes.buffer] : [])
    this.#credits -= 1
    if (this.#credits <= 0) {
      await new Promise((wake) => (this.#wake = wake))
      this.#restedAt = performance.now()
    } else if (performance.now() - this.#restedAt > BUSY_INTERVAL) {
      await new Promise((wake) => setTimeout(wake, 0)) // so that a message to stop can come in
      this.#restedAt = performance.now()
    }
    return !this.#stopped
  }

  tell(text) {
    const now = performance.now()
    if (!this.#stopped && now - this.#toldAt > TELL_INTERVAL) {
      this.#toldAt = now
      this.#post({ kind: 'tell', id: this.#id, text })
    }
    return !this.#stopped
  }

  more() {
    this.#credits += 1
    this.#wake?.()
  }

  stop() {
    this.#stopped = true
    this.#wake?.()
  }
}
