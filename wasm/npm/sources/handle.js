// A folder that the File System Access API gave, or one of the origin's private file system.

export class HandleSource {
  #root
  #folders = new Map()

  constructor(root) {
    this.#root = root
  }

  spec() {
    return { kind: 'handle', args: [this.#root] }
  }

  async list(prefix) {
    const found = []
    const walk = async (folder, path) => {
      for await (const [name, handle] of folder.entries()) {
        if (handle.kind === 'directory') await walk(handle, `${path}/${name}`)
        else found.push({ name: `${path}/${name}`, size: (await handle.getFile()).size })
      }
    }
    const folder = await absent(this.#folder(prefix))
    if (folder) await walk(folder, prefix)
    return found
  }

  async read(name, offset, length) {
    const slash = name.lastIndexOf('/')
    const folder = await absent(slash < 0 ? this.#root : this.#folder(name.slice(0, slash)))
    const handle = folder && (await absent(folder.getFileHandle(name.slice(slash + 1))))
    if (!handle) return null
    const file = await handle.getFile()
    return new Uint8Array(await file.slice(offset, offset + length).arrayBuffer())
  }

  #folder(path) {
    let folder = this.#folders.get(path)
    if (!folder) {
      const slash = path.lastIndexOf('/')
      const parent = slash < 0 ? Promise.resolve(this.#root) : this.#folder(path.slice(0, slash))
      folder = parent.then((parent) => parent.getDirectoryHandle(path.slice(slash + 1)))
      this.#folders.set(path, folder)
      folder.catch(() => this.#folders.delete(path)) // it may be made later
    }
    return folder
  }
}

/** Null in place of what is not there, or is of another kind. */
async function absent(promise) {
  try {
    return await promise
  } catch (error) {
    if (error?.name === 'NotFoundError' || error?.name === 'TypeMismatchError') return null
    throw error
  }
}
