// A folder of this machine, in Node.

import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Files whose lengths are asked for at once. */
const STATS_AT_ONCE = 64

export class DirectorySource {
  #root

  constructor(root) {
    this.#root = root
  }

  spec() {
    return { kind: 'directory', args: [this.#root] }
  }

  async list(prefix) {
    const names = await absent(readdir(join(this.#root, prefix), { recursive: true, withFileTypes: true }))
    const files = (names ?? []).filter((entry) => entry.isFile())
    const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    const found = []
    for (let at = 0; at < paths.length; at += STATS_AT_ONCE) {
      const some = paths.slice(at, at + STATS_AT_ONCE)
      const sizes = await Promise.all(some.map((path) => absent(stat(path))))
      some.forEach((path, number) => {
        if (!sizes[number]) return // it has vanished meanwhile
        found.push({ name: path, size: sizes[number].size, mtimeMs: sizes[number].mtimeMs })
      })
    }
    return found
  }

  async read(name, offset, length) {
    const file = await absent(open(join(this.#root, name)))
    if (!file) return null
    try {
      const { size } = await file.stat()
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
      let filled = 0
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled)
        if (bytesRead === 0) return bytes.subarray(0, filled)
        filled += bytesRead
      }
      return bytes
    } finally {
      await file.close()
    }
  }
}

/** Null in place of what is not there. */
async function absent(promise) {
  try {
    return await promise
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  }
}
