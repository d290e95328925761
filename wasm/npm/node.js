// The package in Node.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { open } from './client.js'
import { shared } from './sources.js'
import { DirectorySource } from './sources/directory.js'

export * from './errors.js'

const MODULE = new URL('./module_bg.wasm', import.meta.url)

export const sources = {
  ...shared,
  directory: async (path) => new DirectorySource(path instanceof URL ? fileURLToPath(path) : path),
}

/** Opens a repository. `wasm` is the module, its bytes or its file, if that is not the one beside this file. */
export async function openRepository(source, options) {
  const wasm = options?.wasm ?? MODULE
  const isFile = wasm instanceof URL || typeof wasm === 'string'
  return open(source, options, startWorker, isFile ? await readFile(wasm) : wasm)
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
