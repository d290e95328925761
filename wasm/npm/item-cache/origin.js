// Where items are kept in browsers: the origin's private file system, whose files are replaced whole when they are closed.

import { surplus } from '../item-cache.js'

/** An empty file with this name at its end tells by its time when another was used last: times can't be set here. */
const USED = '.used'

export class OriginStore {
  #folder

  constructor(folder) {
    this.#folder = folder
  }

  static async of(name = 'portaborg-items') {
    const root = await navigator.storage.getDirectory()
    return new OriginStore(await root.getDirectoryHandle(name, { create: true }))
  }

  async open(name) {
    const handle = await this.#folder.getFileHandle(name)
    const file = await handle.getFile()
    return {
      size: file.size,
      read: async (offset, length) => new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()),
      close() {},
    }
  }

  async create(name) {
    const handle = await this.#folder.getFileHandle(name, { create: true })
    const out = await handle.createWritable()
    return { write: (bytes) => out.write(bytes), finish: () => out.close(), abandon: () => out.abort() }
  }

  async use(name) {
    const handle = await this.#folder.getFileHandle(name + USED, { create: true })
    await (await handle.createWritable()).close()
  }

  async remove(name) {
    await this.#folder.removeEntry(name)
    await this.#folder.removeEntry(name + USED)
  }

  async trim(mostBytes) {
    const files = new Map()
    const entry = (name) => files.get(name) ?? files.set(name, { name, size: 0, usedAt: 0 }).get(name)
    for await (const [name, handle] of this.#folder.entries()) {
      if (handle.kind !== 'file') continue
      const { size, lastModified } = await handle.getFile()
      const file = entry(name.endsWith(USED) ? name.slice(0, -USED.length) : name)
      file.size += size
      file.usedAt = Math.max(file.usedAt, lastModified)
    }
    for (const { name } of surplus(files.values(), mostBytes)) await this.remove(name).catch(() => {})
  }
}
