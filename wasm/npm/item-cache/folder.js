// Where items are kept in Node: files of a folder, which are replaced whole.

import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { surplus } from '../item-cache.js'

const UNFINISHED = '.tmp'
/** A file that is not whole after this time never will be, in milliseconds. */
const UNFINISHED_FOR = 24 * 60 * 60 * 1000

export class FolderStore {
  #folder

  constructor(folder = defaultFolder()) {
    this.#folder = folder
  }

  async open(name) {
    const path = join(this.#folder, name)
    const stats = await stat(path).catch(() => null)
    if (!stats?.isFile()) return null // what is no file could make opening it wait
    const file = await open(path)
    return {
      size: (await file.stat()).size,
      async read(offset, length) {
        const bytes = new Uint8Array(length)
        let filled = 0
        while (filled < length) {
          const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled)
          if (bytesRead === 0) break
          filled += bytesRead
        }
        return bytes.subarray(0, filled)
      },
      close: () => file.close(),
    }
  }

  async create(name) {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, name)
    const temporary = `${path}.${crypto.randomUUID()}${UNFINISHED}`
    const file = await open(temporary, 'wx', 0o600)
    return {
      async write(bytes) {
        for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
      },
      // Whether it survives a crash of the machine is of no matter: what is not whole is found so.
      async finish() {
        await file.close()
        await rename(temporary, path)
      },
      async abandon() {
        await file.close()
        await rm(temporary, { force: true })
      },
    }
  }

  async use(name) {
    const now = new Date()
    await utimes(join(this.#folder, name), now, now)
  }

  async remove(name) {
    await rm(join(this.#folder, name), { force: true })
  }

  async trim(mostBytes) {
    const files = []
    for (const name of await readdir(this.#folder)) {
      const stats = await stat(join(this.#folder, name)).catch(() => null)
      if (!stats?.isFile()) continue
      const usedAt = stats.mtimeMs
      if (!name.endsWith(UNFINISHED)) files.push({ name, size: stats.size, usedAt })
      else if (Date.now() - usedAt > UNFINISHED_FOR) await this.remove(name)
    }
    for (const { name } of surplus(files, mostBytes)) await this.remove(name)
  }
}

/** The user's folder for what can be made anew. */
function defaultFolder() {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = process.env
  const folders = { darwin: join(homedir(), 'Library', 'Caches'), win32: local ?? join(homedir(), 'AppData', 'Local') }
  const base = xdg && isAbsolute(xdg) ? xdg : (folders[process.platform] ?? join(homedir(), '.cache'))
  return join(base, 'portaborg', 'items')
}
