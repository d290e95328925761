// The package in Node.

import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { open } from './client.js'
import { shared } from './sources.js'
import { DirectorySource } from './sources/directory.js'

export * from './errors.js'

/** What works, by `threads`: with a module each, or with one that shares its memory. */
const WORKERS = {
  workers: { module: './module_bg.wasm', worker: './worker-node.js' },
  shared: { module: './threads_bg.wasm', worker: './worker-node-shared.js' },
}

export const sources = {
  ...shared,
  directory: async (path) => new DirectorySource(path instanceof URL ? fileURLToPath(path) : path),
}

/** Opens a repository. `wasm` is the module, its bytes or its file, if that is not the one beside this file. */
export async function openRepository(source, options) {
  const { module, worker } = WORKERS[options?.threads ?? 'workers'] ?? WORKERS.workers // open() refuses what is no kind
  const wasm = options?.wasm ?? here(module)
  const isFile = wasm instanceof URL || typeof wasm === 'string'
  const start = () => startWorker(here(worker))
  return open(source, options, start, isFile ? await readFile(wasm) : wasm, availableParallelism())
}

function here(name) {
  return new URL(name, import.meta.url)
}

function startWorker(address) {
  const worker = new Worker(address)
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer),
    listen({ message, failed }) {
      worker.on('message', message)
      worker.on('error', failed)
      worker.on('exit', () => failed(new Error('it has ended')))
    },
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => worker.terminate(),
  }
}
