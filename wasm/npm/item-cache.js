// Items of archives that were read before, for the module: sealed and opened by Web Crypto, kept by a store. Nothing here throws:
// what can't be had is read again from the archive.

/** What all files may take together, in bytes: the items of seventy archives with 100,000 of them each. */
const MOST_BYTES = 512 * 1024 * 1024

/**
 * A store has `open(name)`, which promises `{ size, read(offset, length), close() }` or null, `create(name)`, which promises
 * `{ write(bytes), finish(), abandon() }`, `use(name)`, `remove(name)` and `trim(mostBytes)`.
 */
export class ItemCache {
  #store

  constructor(store) {
    this.#store = store
  }

  /** Undefined where there is no Web Crypto, or nowhere to keep anything. */
  static async of(makeStore) {
    try {
      return globalThis.crypto?.subtle && new ItemCache(await makeStore())
    } catch {
      return undefined
    }
  }

  random(length) {
    return crypto.getRandomValues(new Uint8Array(length))
  }

  async open(name, headLength) {
    let file
    try {
      file = await this.#store.open(name)
      return file && new CacheFile(this.#store, name, file, await file.read(0, headLength))
    } catch {
      file?.close()
      return null
    }
  }

  create(name, head, key) {
    return new NewFile(this.#store, name, head, key)
  }
}

class CacheFile {
  #store
  #name
  #file
  #key

  constructor(store, name, file, head) {
    this.#store = store
    this.#name = name
    this.#file = file
    this.size = file.size
    this.head = head
  }

  unlock(key) {
    this.#key = imported(key, 'decrypt')
    quietly(this.#store.use(this.#name))
  }

  segment(offset, length, nonce) {
    const opening = this.#open(offset, length, nonce)
    opening.catch(() => {}) // whoever waits for it is told
    return opening
  }

  async #open(offset, length, nonce) {
    const sealed = await this.#file.read(offset, length)
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce }, await this.#key, sealed))
  }

  useless() {
    quietly(this.#store.remove(this.#name))
  }

  close() {
    quietly(this.#file.close())
  }
}

class NewFile {
  #store
  #file
  #key
  #size = 0
  /** What is done one after the other. */
  #work

  constructor(store, name, head, key) {
    this.#store = store
    this.#key = imported(key, 'encrypt')
    this.#work = Promise.resolve()
    this.#then(async () => {
      this.#file = await store.create(name)
      await this.#write(head)
    })
  }

  add(nonce, plaintext) {
    this.#then(async () => {
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, await this.#key, plaintext)
      await this.#write(new Uint8Array(sealed))
    })
  }

  async finish() {
    this.#then(() => this.#file.finish())
    this.#then(() => this.#store.trim(MOST_BYTES))
    try {
      await this.#work
    } catch {
      this.abandon()
    }
  }

  abandon() {
    quietly(this.#work.catch(() => {}).then(() => this.#file?.abandon()))
  }

  async #write(bytes) {
    this.#size += bytes.length
    if (this.#size > MOST_BYTES) throw new RangeError('The items of this archive are too many to be kept')
    await this.#file.write(bytes)
  }

  #then(step) {
    this.#work = this.#work.then(step)
    this.#work.catch(() => {}) // whoever waits for the end is told
  }
}

/** Which files have to go, of `{ name, size, usedAt }`: those whose use is longest ago. */
export function surplus(files, mostBytes) {
  const sorted = [...files].sort((a, b) => a.usedAt - b.usedAt)
  let bytes = sorted.reduce((sum, { size }) => sum + size, 0)
  const gone = []
  for (const file of sorted) {
    if (bytes <= mostBytes) break
    bytes -= file.size
    gone.push(file)
  }
  return gone
}

function imported(key, use) {
  const importing = crypto.subtle.importKey('raw', key, 'AES-GCM', false, [use])
  importing.catch(() => {}).finally(() => key.fill(0))
  return importing
}

function quietly(promise) {
  Promise.resolve(promise).catch(() => {})
}
