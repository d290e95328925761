// The program that reads repositories, and the workers in which it runs.

import { openRepository, type OpenOptions, type Repository, type Source } from 'portaborg/slim'
import moduleUrl from 'portaborg/module.wasm?url'
import workerUrl from 'portaborg/worker?worker&url'

/** Opens a repository with what is loaded already. */
export async function open(source: Source, options: OpenOptions): Promise<Repository> {
  return openRepository(source, { ...options, wasm: await engine(), worker: startWorker })
}

/** Loads and compiles the program, once. */
export function engine(): Promise<WebAssembly.Module> {
  loading ??= WebAssembly.compileStreaming(fetch(moduleUrl)).catch((error: unknown) => {
    loading = null // a later try may find the network again
    throw error
  })
  return loading
}

let loading: Promise<WebAssembly.Module> | null = null

/**
 * A worker of a file has the policy that came with the file; one of a blob has that of the page as it is now, which says where
 * connections may go.
 */
function startWorker(): Worker {
  const address = new URL(workerUrl, document.baseURI).href
  const script = new Blob([`import ${JSON.stringify(address)}`], { type: 'text/javascript' })
  const url = URL.createObjectURL(script)
  const worker = new Worker(url, { type: 'module', name: 'portaborg' })
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER)
  return worker
}

/** In milliseconds. */
const REVOKE_AFTER = 60_000
