// The package where the caller says where the module is.

import type { OpenOptions, Repository, Source } from './index.js'

export * from './index.js'

/** Opens a repository, with the module from `wasm` and a worker from `worker`. */
export function openRepository(
  source: Source,
  options: OpenOptions & { wasm: NonNullable<OpenOptions['wasm']>; worker?: () => Worker },
): Promise<Repository>
