// The side of the worker that writes: one open repository, and the calls that come for it, one after another.

import { toFailure } from '../errors.js'
import init, { Writer } from './module.js'

/** How often progress is told, in milliseconds, and how long it may take until a message to stop comes in. */
const TELL_INTERVAL = 100

/** Serves the port. `stores` are the classes of stores that can be here, by their kinds. */
export function serve(port, { load, stores }) {
  const questions = new Map()
  const stopped = new Set()
  let lastQuestion = 0
  let writer
  let before = Promise.resolve()

  const ask = (op) => (...args) =>
    new Promise((resolve, reject) => {
      questions.set(++lastQuestion, { resolve, reject })
      port.postMessage({ kind: 'ask', id: lastQuestion, op, args })
    })

  const target = (spec) => {
    if (spec && stores[spec.kind]) return new stores[spec.kind](...spec.args)
    const ops = ['list', 'read', 'write', 'delete', 'move', 'sync']
    return Object.fromEntries(ops.map((op) => [op, ask(op)]))
  }

  const operations = {
    async found(_, wasm, spec, passphrase, options) {
      await init({ module_or_path: await load(wasm) })
      writer = await Writer.found(target(spec), passphrase, options)
      return writer.facts()
    },
    async open(_, wasm, spec, passphrase, key) {
      await init({ module_or_path: await load(wasm) })
      writer = await Writer.open(target(spec), passphrase, key)
      return writer.facts()
    },
    create(sink, options, feed) {
      const next = ask('next')
      return writer.create(options, { next: () => next(feed) }, sink)
    },
    delete: (_, archives) => writer.delete(archives),
    compact: (sink, threshold) => writer.compact(threshold, sink),
  }

  async function run({ id, op, args }) {
    let toldAt = performance.now()
    const sink = {
      emit: async () => !stopped.has(id),
      tell(text) {
        if (performance.now() - toldAt > TELL_INTERVAL) {
          toldAt = performance.now()
          port.postMessage({ kind: 'tell', id, text })
        }
        return !stopped.has(id)
      },
    }
    try {
      port.postMessage({ kind: 'done', id, value: await operations[op](sink, ...args) })
    } catch (thrown) {
      port.postMessage({ kind: 'failed', id, failure: toFailure(thrown) })
    }
    stopped.delete(id)
  }

  port.onMessage((message) => {
    switch (message.kind) {
      case 'call':
        before = before.then(() => run(message))
        return
      case 'stop':
        return stopped.add(message.id)
      case 'answer': {
        const { resolve, reject } = questions.get(message.id)
        questions.delete(message.id)
        return message.thrown ? reject(message.thrown) : resolve(message.value)
      }
    }
  })
}
