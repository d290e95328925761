// The line to a worker: calls, streams of results with back-pressure, and the questions of a worker whose source is here.

import { PortaborgError, abortReason, misuse, toError } from './errors.js'

/**
 * Calls a worker. `port` has `postMessage(message, transfer)`, `listen({ message, failed })`, `ref()`, `unref()` and
 * `terminate()`; `source` answers the worker where it can't have the source itself.
 */
export class Link {
  #port
  #source
  #counted
  #calls = new Map()
  #lastId = 0
  #gone = null

  constructor(port, source) {
    this.#port = port
    this.#source = source
    this.#counted = { ...source.stats }
    port.listen({
      message: (message) => this.#take(message),
      failed: (error) => this.#fail(broken(error)),
    })
    port.unref()
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

  /** Ends the worker; whatever is on its way ends as misuse. */
  close() {
    this.#fail(misuse('repository', 'The repository is closed.'))
  }

  #take(message) {
    if (message.stats) this.#count(message.stats)
    if (message.kind === 'ask') return this.#answer(message)
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
    this.#gone = error
    for (const call of [...this.#calls.values()]) call.finish({ error })
    this.#port.terminate()
  }
}

function broken(error) {
  const message = `The worker failed: ${error?.message ?? 'it could not be started'}`
  return new PortaborgError({ code: 'Exception', object: 'worker', message }, { cause: error })
}
