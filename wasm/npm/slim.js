// The package where the caller says where the module is, in browsers and bundlers: nothing refers to a file of it here.

import { open } from './client.js'
import { misuse } from './errors.js'
import { shared } from './sources.js'

export * from './errors.js'

export const sources = shared

/** Opens a repository. `wasm` is the module's address, its bytes, or the module; `worker` starts a worker of `portaborg/worker`. */
export async function openRepository(source, options) {
  const { wasm, worker = startWorker } = options ?? {}
  if (!wasm) throw misuse('wasm', 'Say where the module is, or import openRepository from portaborg.')
  return open(source, options, () => portOf(worker()), wasm instanceof URL ? wasm.href : wasm)
}

function startWorker() {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'portaborg' })
}

function portOf(worker) {
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer ?? []),
    listen({ message, failed }) {
      worker.onmessage = ({ data }) => message(data)
      worker.onerror = failed
      worker.onmessageerror = failed
    },
    ref() {},
    unref() {},
    terminate: () => worker.terminate(),
  }
}
