// The package in browsers and bundlers.

import * as slim from './slim.js'

export * from './slim.js'

/** Opens a repository. */
export async function openRepository(source, options) {
  const isShared = options?.threads === 'shared'
  const wasm = isShared ? new URL('./threads_bg.wasm', import.meta.url) : new URL('./module_bg.wasm', import.meta.url)
  return slim.openRepository(source, { wasm, ...options })
}
