// The line to a worker: calls, streams of results with back-pressure, and the questions of a worker whose source is here.

import { PortaborgError, abortReason, misuse, toError } from './errors.js'

/** How long is waited for workers that wipe their memory, in milliseconds. */
const WIPE_TIMEOUT = 1000

/**
 * Calls a worker. `port` has `postMessage(message, transfer)`, `listen({ message, failed })`, `ref()`, `unref()` and
 * `terminate()`, and `start()` gives the ports of others that help it; `source` answers the worker where it can't have the source
 * itself.
 */
export class Link {
  #port
  #start
  /** Ports of all workers, and what to call when they have wiped their memory. */
  #workers = new Map()
  /** Ports that take no more messages: theirs is the memory of another. */
  #threads = new Set()
  #source
  #counted
  #calls = new Map()
  #lastId = 0
  #gone = null

  constructor(port, source, start) {
    this.#port = port
    this.#start = start
    this.#source = source
    this.#counted = { ...source.stats }
    this.#listen(port, (message) => this.#take(message), (error) => this.#fail(broken(error)))
  }

  /** One result. `onTell` takes what is told on the way. */
  async call(op, args, { signal, onTell, transfer } = {}) {
    const stream = this.stream(op, args, { signal, onTell, transfer })
    while (true) {
      const { done, value } = await stream.next()
      if (done) return value
    }
  }

  /** Many results: an async iterator of `{ text, bytes }`, of which `credits` may be on their way before they are asked for. */
  stream(op, args, { signal, onTell, transfer, credits = 2 } = {}) {
    const id = ++this.#lastId
    const call = { queue: [], wake: null, onTell, end: null }
    const finish = (end) => {
      call.end ??= end
      if (this.#calls.delete(id) && this.#calls.size === 0) this.#port.unref()
      signal?.removeEventListener('abort', abort)
      call.wake?.()
    }
    const stop = (end) => {
      if (!this.#gone && this.#calls.has(id)) this.#port.postMessage({ kind: 'stop', id })
      call.queue = []
      finish(end)
    }
    const abort = () => stop({ error: abortReason(signal) })
    call.finish = finish
    const begin = () => {
      if (call.begun) return
      call.begun = true
      if (signal?.aborted) return finish({ error: abortReason(signal) })
      if (this.#gone) return finish({ error: this.#gone })
      signal?.addEventListener('abort', abort)
      if (this.#calls.size === 0) this.#port.ref()
      this.#calls.set(id, call)
      this.#port.postMessage({ kind: 'call', id, op, args, credits }, transfer)
    }
    return {
      next: async () => {
        begin()
        while (call.queue.length === 0 && !call.end) await new Promise((wake) => (call.wake = wake))
        if (call.queue.length > 0) {
          if (!call.end) this.#port.postMessage({ kind: 'more', id })
          return { done: false, value: call.queue.shift() }
        }
        if ('error' in call.end) {
          const { error } = call.end
          call.end = { value: undefined }
          throw error
        }
        return { done: true, value: call.end.value }
      },
      return: async (value) => {
        call.begun = true
        stop({ value: undefined })
        return { done: true, value }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  /** Ends the workers, when they have wiped their memory; whatever is on its way ends as misuse. */
  async close() {
    if (this.#gone) return
    this.#end(misuse('repository', 'The repository is closed.'))
    this.#port.ref()
    for (const port of this.#threads) port.terminate() // before their memory is wiped
    const wiped = [...this.#workers.keys()].filter((port) => !this.#threads.has(port)).map((port) => {
      port.postMessage({ kind: 'close' })
      return new Promise((resolve) => this.#workers.set(port, resolve))
    })
    let timer
    await Promise.race([Promise.all(wiped), new Promise((resolve) => (timer = setTimeout(resolve, WIPE_TIMEOUT)))])
    clearTimeout(timer)
    this.#terminate()
  }

  #listen(port, take, failed) {
    this.#workers.set(port, () => {})
    port.listen({ message: (message) => (message.kind === 'closed' ? this.#workers.get(port)() : take(message)), failed })
    port.unref()
  }

  /** Starts helpers, and gives them channels to the worker that they help. */
  async #recruit(count) {
    for (let number = 0; number < count && !this.#gone; number += 1) {
      const { port1, port2 } = new MessageChannel()
      const port = await this.#start()
      if (this.#gone) return port.terminate()
      let isReady = false
      const take = ({ kind, isThread }) => {
        isReady ||= kind === 'ready'
        if (isThread) this.#threads.add(port)
      }
      // One that can't even begin is done without, if that can be.
      const failed = (error) => (isReady ? this.#fail(broken(error)) : this.#gone || this.#port.postMessage({ kind: 'lost' }))
      this.#listen(port, take, failed)
      port.postMessage({ kind: 'help', channel: port1 }, [port1])
      this.#port.postMessage({ kind: 'helper', channel: port2 }, [port2])
    }
  }

  #take(message) {
    if (message.stats) this.#count(message.stats)
    if (message.kind === 'ask') return this.#answer(message)
    if (message.kind === 'recruit') return this.#recruit(message.count)
    const call = this.#calls.get(message.id)
    if (!call) return // it was stopped meanwhile
    switch (message.kind) {
      case 'next':
        call.queue.push({ text: message.text, bytes: message.bytes })
        return call.wake?.()
      case 'tell':
        return call.onTell?.(JSON.parse(message.text))
      case 'done':
        return call.finish({ value: message.value })
      case 'failed':
        return call.finish({ error: toError(message.failure) })
    }
  }

  /** What the worker has counted comes on top of what was counted before it began. */
  #count(stats) {
    for (const [name, number] of Object.entries(stats)) this.#source.stats[name] = number + (this.#counted[name] ?? 0)
  }

  async #answer({ id, op, args }) {
    const answer = { kind: 'answer', id }
    try {
      answer.value = await this.#source[op](...args)
    } catch (thrown) {
      const { code, name, message } = thrown ?? {}
      answer.thrown = { code, name, message: `${message ?? thrown}` }
    }
    if (!this.#gone) this.#port.postMessage(answer)
  }

  #fail(error) {
    if (this.#gone) return
    this.#end(error)
    this.#terminate()
  }

  #end(error) {
    this.#gone = error
    for (const call of [...this.#calls.values()]) call.finish({ error })
  }

  #terminate() {
    for (const port of this.#workers.keys()) port.terminate()
  }
}

function broken(error) {
  const message = `The worker failed: ${error?.message ?? 'it could not be started'}`
  return new PortaborgError({ code: 'Exception', object: 'worker', message }, { cause: error })
}
