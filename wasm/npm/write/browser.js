// Writing, in browsers and bundlers.

import { create, open, shared } from './common.js'

export * from '../errors.js'

export const writers = shared

/** Makes a repository, and opens it for writing. */
export async function createRepository(store, options) {
  return create(store, options, () => startWorker(options), moduleOf(options))
}

/** Opens a repository for writing. */
export async function openForWriting(store, options) {
  return open(store, options, () => startWorker(options), moduleOf(options))
}

function moduleOf(options) {
  const wasm = options?.wasm ?? new URL('./module_bg.wasm', import.meta.url)
  return wasm instanceof URL ? wasm.href : wasm
}

function startWorker(options) {
  const worker =
    options?.worker?.() ?? new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'portaborg-write' })
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
