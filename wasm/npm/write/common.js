// What writing is everywhere: `start` gives a worker's port, `wasm` is where it finds the module.

import { misuse } from '../errors.js'
import { HandleStore } from './handle.js'
import { MemoryStore } from './memory.js'
import { WritableRepository } from './repository.js'

/** The stores that every platform has. */
export const shared = {
  handle: async (directory) => new HandleStore(directory),
  memory: async (files) => new MemoryStore(files),
}

export async function create(store, options, start, wasm) {
  const { encryption, idHash, compression, chunkerParams } = options ?? {}
  if (typeof encryption !== 'string') throw misuse('encryption', 'Say which encryption the repository shall have.')
  const founding = { encryption, idHash, compression, chunkerParams }
  return WritableRepository.start(store, options, founding, start, wasm)
}

export async function open(store, options, start, wasm) {
  return WritableRepository.start(store, options, null, start, wasm)
}
