// The worker's side: one open repository, and the calls that come for it; or a helper of the worker that has one.

import { Cipher } from './cipher.js'
import { Crew, Inbox } from './crew.js'
import { toFailure } from './errors.js'
import { ItemCache } from './item-cache.js'
import { fromSpec } from './sources.js'

/** How often progress is told, and how long messages wait for a call that never waits, in milliseconds. */
const TELL_INTERVAL = 100
const BUSY_INTERVAL = 50

/**
 * Serves the port: `postMessage(message, transfer)`, `onMessage(take)`. `glue` is what was generated for the module: that whose
 * threads share its memory has `makePool` and `enter`. `sources` makes sources that only this platform has, and `itemStore` keeps items.
 */
export function serve(port, glue, { sources, itemStore } = {}) {
  const { default: init, Repository, help, makePool, enter } = glue
  const sinks = new Map()
  const questions = new Map()
  let memory
  let module
  let repository
  let crew
  let source
  let lastQuestion = 0
  let threadIsReady
  let threadIsLost

  const start = async (wasm, shared) => {
    module = await compile(wasm)
    const exports = await init({ module_or_path: module, memory: shared })
    memory = exports.memory
  }

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
    async open(_, wasm, spec, passphrase, key, workers, itemCache) {
      await start(wasm)
      source = spec ? fromSpec(spec, sources) : { list: ask('list'), read: ask('read') }
      if (workers > 1 && makePool) await pool(workers)
      else if (workers > 1) crew = new Crew(() => post({ kind: 'recruit', count: workers }))
      const cache = itemCache === false ? undefined : await ItemCache.of(() => itemStore(itemCache))
      repository = await Repository.open(source, Cipher.ofPlatform(), crew, cache, passphrase, key)
      passphrase.fill(0)
      return repository.facts()
    },
    archives: (_, deleted) => repository.archives(deleted),
    archive: (_, wanted) => repository.archive(wanted),
    items: (sink, archive, filter) => repository.items(archive, filter, sink),
    folder: (sink, archive, wanted) => repository.folder(archive, wanted, sink),
    content: (sink, chunks, start, end) => repository.content(chunks, start, end, sink),
    restore: (sink, archive, paths) => repository.restore(archive, paths, sink),
    diff: (sink, left, right) => repository.diff(left, right, sink),
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

  /** So many threads that share the memory. They wait for the pool, which must not be made before. */
  async function pool(count) {
    let missing = count
    const all = new Promise((resolve, reject) => {
      threadIsReady = () => (missing -= 1) === 0 && resolve()
      threadIsLost = () => reject(new Error('a thread could not be started'))
    })
    post({ kind: 'recruit', count })
    await all
    makePool(count)
  }

  /** A helper's channel has come: it is told the secrets, in a message that leaves no copy here; a thread is told the memory. */
  function welcome(channel) {
    if (makePool) {
      channel.onmessage = threadIsReady
      return channel.postMessage({ module, memory })
    }
    const { encryption, idHash } = JSON.parse(repository.facts())
    const secrets = repository.secrets()
    crew.add(channel, { module, encryption, idHash, secrets }, [secrets.buffer])
  }

  /** From now on, this worker helps. */
  function helpOn(channel) {
    channel.onmessage = async ({ data }) => {
      await start(data.module, data.memory)
      post({ kind: 'ready', isThread: Boolean(data.memory) })
      if (data.memory) {
        channel.postMessage({ ready: true })
        return enter()
      }
      await help(new Inbox(channel), Cipher.ofPlatform(), data.encryption, data.idHash, data.secrets)
    }
  }

  /** Nothing is left of the secrets, whatever is still on its way. */
  function close() {
    for (const sink of sinks.values()) sink.stop()
    if (memory) new Uint8Array(memory.buffer).fill(0)
    post({ kind: 'closed' })
  }

  port.onMessage((message) => {
    switch (message.kind) {
      case 'call':
        return run(message)
      case 'helper':
        return welcome(message.channel)
      case 'lost':
        return threadIsLost?.()
      case 'help':
        return helpOn(message.channel)
      case 'close':
        return close()
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

/** The module, of its address, its bytes or itself: helpers get it compiled. */
async function compile(wasm) {
  if (wasm instanceof WebAssembly.Module) return wasm
  if (typeof wasm !== 'string') return WebAssembly.compile(wasm)
  const response = await fetch(wasm)
  if (!response.ok) throw new Error(`${wasm}: the server says ${response.status}`)
  // Servers that don't know the type are common.
  const isTyped = response.headers.get('Content-Type')?.startsWith('application/wasm')
  return isTyped ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer())
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

  wanted() {
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
