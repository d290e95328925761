// The package where the caller says where the module is.

import type { OpenOptions, Repository, Source } from './index.d.ts'

export * from './index.d.ts'

/** Opens a repository, with the module from `wasm` and a worker from `worker`. */
export function openRepository(
  source: Source,
  options: OpenOptions & { wasm: NonNullable<OpenOptions['wasm']>; worker?: () => Worker },
): Promise<Repository>
