// A folder of this machine that is written to, in Node. Every change is durable before it counts as done: files are written
// under another name, brought to the disk, and renamed; then their folder is.

import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DirectorySource } from '../sources/directory.js'

/** What a repository has from its beginning, as other clients expect it. */
const FOLDERS = ['archives', 'cache', 'config', 'index', 'keys', 'locks', 'packs']
const PACK_FOLDERS = 256

export class DirectoryStore extends DirectorySource {
  #root
  #made = false

  constructor(root) {
    super(root)
    this.#root = root
  }

  async write(name, content) {
    const path = join(this.#root, name)
    if (!this.#made) await this.#makeFolders(name)
    await this.#makeFolder(dirname(path))
    const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`
    try {
      const file = await open(temporary, 'wx')
      try {
        await file.writeFile(content)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, path)
    } catch (error) {
      await unlink(temporary).catch(() => {})
      throw error
    }
    await syncFolder(dirname(path))
  }

  async delete(name) {
    const path = join(this.#root, name)
    await unlink(path)
    await syncFolder(dirname(path))
  }

  async move(from, to) {
    const path = join(this.#root, to)
    await rename(join(this.#root, from), path)
    await syncFolder(dirname(path))
  }

  async sync() {}

  /** The first file of a new repository is its key; of any other, there is a config. */
  async #makeFolders(name) {
    this.#made = true
    if (!name.startsWith('keys/') || (await this.read('config/config', 0, 1))) return
    for (const folder of FOLDERS) await mkdir(join(this.#root, folder), { recursive: true })
    for (let number = 0; number < PACK_FOLDERS; number += 1) {
      await mkdir(join(this.#root, 'packs', number.toString(16).padStart(2, '0')), { recursive: true })
    }
    for (const folder of ['packs', '.', '..']) await syncFolder(join(this.#root, folder)).catch(() => {})
  }

  async #makeFolder(path) {
    const first = await mkdir(path, { recursive: true })
    if (first) await syncFolder(dirname(first))
  }
}

async function syncFolder(path) {
  let folder
  try {
    folder = await open(path, 'r')
  } catch (error) {
    if (error.code === 'EISDIR' || error.code === 'EPERM') return // Windows has no such thing
    throw error
  }
  try {
    await folder.sync()
  } catch (error) {
    if (error.code !== 'EINVAL' && error.code !== 'EPERM') throw error
  } finally {
    await folder.close()
  }
}
