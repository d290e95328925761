// A repository in memory: for tests, and for small ones that are sent elsewhere as a whole.

export class MemoryStore {
  /** Contents by names, which are paths below the repository. */
  files

  constructor(files = new Map()) {
    this.files = files
  }

  async list(prefix) {
    const inside = [...this.files].filter(([name]) => name.startsWith(`${prefix}/`))
    return inside.map(([name, content]) => ({ name, size: content.length }))
  }

  async read(name, offset, length) {
    return this.files.get(name)?.slice(offset, offset + length) ?? null
  }

  async write(name, content) {
    this.files.set(name, content)
  }

  async delete(name) {
    if (!this.files.delete(name)) throw missing(name)
  }

  async move(from, to) {
    const content = this.files.get(from)
    if (!content) throw missing(from)
    this.files.delete(from)
    this.files.set(to, content)
  }

  async sync() {}
}

function missing(name) {
  return Object.assign(new Error(`${name} is not there`), { code: 'ENOENT' })
}
