// The package where the caller says where the module is, in browsers and bundlers: nothing refers to a file of it here.

import { open } from './client.js'
import { misuse } from './errors.js'
import { portOf } from './ports.js'
import { shared } from './sources.js'

export * from './errors.js'

export const sources = shared

/**
 * Opens a repository. `wasm` is the module's address, its bytes, or the module; `worker` starts a worker of `portaborg/worker`, or
 * of `portaborg/worker-shared` for the module whose threads share its memory.
 */
export async function openRepository(source, options) {
  const { wasm, threads = 'workers', worker = threads === 'shared' ? startShared : startWorker } = options ?? {}
  if (!wasm) throw misuse('wasm', 'Say where the module is, or import openRepository from portaborg.')
  const address = wasm instanceof URL ? wasm.href : wasm
  return open(source, options, () => portOf(worker()), address, navigator.hardwareConcurrency ?? 1)
}

function startWorker() {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'portaborg' })
}

function startShared() {
  return new Worker(new URL('./worker-shared.js', import.meta.url), { type: 'module', name: 'portaborg' })
}
