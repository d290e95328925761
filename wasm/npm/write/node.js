// Writing, in Node.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { create, open, shared } from './common.js'
import { DirectoryStore } from './directory.js'

export * from '../errors.js'

const MODULE = new URL('./module_bg.wasm', import.meta.url)

export const writers = {
  ...shared,
  directory: async (path) => new DirectoryStore(path instanceof URL ? fileURLToPath(path) : path),
}

/** Makes a repository, and opens it for writing. */
export async function createRepository(store, options) {
  return create(store, options, startWorker, await moduleOf(options))
}

/** Opens a repository for writing. */
export async function openForWriting(store, options) {
  return open(store, options, startWorker, await moduleOf(options))
}

async function moduleOf(options) {
  const wasm = options?.wasm ?? MODULE
  return wasm instanceof URL || typeof wasm === 'string' ? readFile(wasm) : wasm
}

function startWorker() {
  const worker = new Worker(new URL('./worker-node.js', import.meta.url))
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
