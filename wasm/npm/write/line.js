// The line to the worker that writes: calls, what is told on the way, and the worker's questions.

import { PortaborgError, misuse, toError } from '../errors.js'

export class Line {
  #port
  #answers
  #calls = new Map()
  #lastId = 0
  #gone = null

  /** `answers` has what the worker may ask for: functions that promise. */
  constructor(port, answers) {
    this.#port = port
    this.#answers = answers
    port.listen({
      message: (message) => this.#take(message),
      failed: (error) => this.#fail(broken(error)),
    })
    port.unref()
  }

  /** One result. `onTell` takes what is told on the way; a signal asks the worker to stop, which it does in good order. */
  async call(op, args, { signal, onTell, transfer } = {}) {
    if (signal?.aborted) throw signal.reason
    if (this.#gone) throw this.#gone
    const id = ++this.#lastId
    const stop = () => this.#port.postMessage({ kind: 'stop', id })
    signal?.addEventListener('abort', stop)
    if (this.#calls.size === 0) this.#port.ref()
    try {
      return await new Promise((resolve, reject) => {
        this.#calls.set(id, { resolve, reject, onTell })
        this.#port.postMessage({ kind: 'call', id, op, args }, transfer)
      })
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    } finally {
      signal?.removeEventListener('abort', stop)
      if (this.#calls.delete(id) && this.#calls.size === 0) this.#port.unref()
    }
  }

  close() {
    this.#fail(misuse('repository', 'The repository is closed.'))
  }

  #take(message) {
    if (message.kind === 'ask') return this.#answer(message)
    const call = this.#calls.get(message.id)
    if (message.kind === 'tell') call?.onTell?.(JSON.parse(message.text))
    else if (message.kind === 'done') call?.resolve(message.value)
    else call?.reject(toError(message.failure))
  }

  async #answer({ id, op, args }) {
    const answer = { kind: 'answer', id }
    try {
      answer.value = await this.#answers[op](...args)
    } catch (thrown) {
      const { code, name, message } = thrown ?? {}
      answer.thrown = { code, name, message: `${message ?? thrown}` }
    }
    if (!this.#gone) this.#port.postMessage(answer)
  }

  #fail(error) {
    if (this.#gone) return
    this.#gone = error
    for (const { reject } of this.#calls.values()) reject(error)
    this.#port.terminate()
  }
}

function broken(error) {
  const message = `The worker failed: ${error?.message ?? 'it could not be started'}`
  return new PortaborgError({ code: 'Exception', object: 'worker', message }, { cause: error })
}
