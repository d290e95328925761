// A folder from the File System Access API, or of the origin's private file system, that is written to.

import { HandleSource } from '../sources/handle.js'

export class HandleStore extends HandleSource {
  #root

  constructor(root) {
    super(root)
    this.#root = root
  }

  /** What is written is seen when the stream is closed, whole. */
  async write(name, content) {
    const { folder, last } = await this.#place(name, true)
    const file = await folder.getFileHandle(last, { create: true })
    const stream = await file.createWritable()
    try {
      await stream.write(content)
      await stream.close()
    } catch (error) {
      await stream.abort?.().catch(() => {})
      throw error
    }
  }

  async delete(name) {
    const { folder, last } = await this.#place(name, false)
    await folder.removeEntry(last)
  }

  /** Within one folder. */
  async move(from, to) {
    const { folder, last } = await this.#place(from, false)
    const file = await folder.getFileHandle(last)
    const name = to.slice(to.lastIndexOf('/') + 1)
    if (file.move) {
      try {
        return await file.move(name)
      } catch (error) {
        if (error?.name !== 'NotSupportedError' && error?.name !== 'TypeError') throw error
      }
    }
    await this.write(to, new Uint8Array(await (await file.getFile()).arrayBuffer()))
    await folder.removeEntry(last)
  }

  async sync() {}

  async #place(name, create) {
    const parts = name.split('/')
    const last = parts.pop()
    let folder = this.#root
    for (const part of parts) folder = await folder.getDirectoryHandle(part, { create })
    return { folder, last }
  }
}
