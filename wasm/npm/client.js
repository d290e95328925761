// Opening a repository: a worker is started, gets what it needs, and from then on it is called.

import { abortReason, misuse } from './errors.js'
import { Link } from './link.js'
import { Repository } from './repository.js'
import { specOf } from './sources.js'

const utf8 = new TextEncoder()

/** No more workers help than this, if nobody asks for more: they would wait for what they are given. */
const MOST_WORKERS = 4

/** `start()` gives a worker's port, `wasm` is where it finds the module, `processors` how many there are. */
export async function open(source, options, start, wasm, processors) {
  const { passphrase = '', key, itemCache, threads = 'workers', signal } = options ?? {}
  const { workers = Math.min(MOST_WORKERS, processors) } = options ?? {}
  if (typeof source?.list !== 'function' || typeof source?.read !== 'function') {
    throw misuse('source', 'A source has the functions list and read.')
  }
  if (typeof passphrase !== 'string' && !(passphrase instanceof Uint8Array)) {
    throw misuse('passphrase', 'A passphrase is a string or a Uint8Array.')
  }
  if (key !== undefined && typeof key !== 'string') throw misuse('key', 'A key is the text of a key file or of a paper key.')
  if (!Number.isInteger(workers) || workers < 1) throw misuse('workers', 'The number of workers is a whole number from 1 on.')
  if (threads !== 'workers' && threads !== 'shared') throw misuse('threads', "Threads are 'workers' or 'shared'.")
  if (threads === 'shared' && globalThis.crossOriginIsolated === false) {
    throw misuse('threads', 'Memory can be shared only in a page that is isolated from other origins.')
  }
  if (itemCache !== undefined && itemCache !== false && typeof itemCache !== 'string') {
    throw misuse('itemCache', 'An item cache is the path of a folder, or false for none.')
  }
  if (signal?.aborted) throw abortReason(signal)
  const bytes = typeof passphrase === 'string' ? utf8.encode(passphrase) : passphrase.slice()
  const link = new Link(await start(), source, start)
  try {
    const args = [wasm, specOf(source), bytes, key, workers, itemCache]
    const facts = await link.call('open', args, { signal, transfer: [bytes.buffer] })
    return new Repository(link, JSON.parse(facts))
  } catch (error) {
    link.close()
    throw error
  }
}
