// Opening a repository: a worker is started, gets what it needs, and from then on it is called.

import { abortReason, misuse } from './errors.js'
import { Link } from './link.js'
import { Repository } from './repository.js'
import { specOf } from './sources.js'

const utf8 = new TextEncoder()

/** `start()` gives a worker's port, `wasm` is where it finds the module. */
export async function open(source, options, start, wasm) {
  const { passphrase = '', key, itemCache, signal } = options ?? {}
  if (typeof source?.list !== 'function' || typeof source?.read !== 'function') {
    throw misuse('source', 'A source has the functions list and read.')
  }
  if (typeof passphrase !== 'string' && !(passphrase instanceof Uint8Array)) {
    throw misuse('passphrase', 'A passphrase is a string or a Uint8Array.')
  }
  if (key !== undefined && typeof key !== 'string') throw misuse('key', 'A key is the text of a key file or of a paper key.')
  if (itemCache !== undefined && itemCache !== false && typeof itemCache !== 'string') {
    throw misuse('itemCache', 'An item cache is the path of a folder, or false for none.')
  }
  if (signal?.aborted) throw abortReason(signal)
  const bytes = typeof passphrase === 'string' ? utf8.encode(passphrase) : passphrase.slice()
  const link = new Link(await start(), source)
  try {
    const facts = await link.call('open', [wasm, specOf(source), bytes, key, itemCache], { signal, transfer: [bytes.buffer] })
    return new Repository(link, JSON.parse(facts))
  } catch (error) {
    link.close()
    throw error
  }
}
