// The package in browsers and bundlers.

import * as slim from './slim.js'

export * from './slim.js'

/** Opens a repository. */
export async function openRepository(source, options) {
  return slim.openRepository(source, { wasm: new URL('./module_bg.wasm', import.meta.url), ...options })
}
