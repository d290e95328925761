// Files that a page was given: a folder that was chosen or dropped.

import { misuse } from '../errors.js'

/** What lies at a repository's root, by which its place in a larger folder is found. */
const CONFIG = 'config/config'

export class FilesSource {
  #files

  /** `files` are pairs of a name below the repository, and its File. */
  constructor(files) {
    this.#files = new Map(files)
  }

  /** `given` is a FileList or an array of Files, which know their paths. */
  static of(given) {
    const files = Array.from(given, (file) => [file.webkitRelativePath || file.name, file])
    const config = files.map(([path]) => path).find((path) => path === CONFIG || path.endsWith(`/${CONFIG}`))
    if (config === undefined) {
      throw misuse('files', `There is no ${CONFIG} among the files, so they are no repository.`, 'Repository.InvalidRepository')
    }
    const root = config.slice(0, -CONFIG.length)
    const below = files.filter(([path]) => path.startsWith(root)).map(([path, file]) => [path.slice(root.length), file])
    return new FilesSource(below)
  }

  spec() {
    return { kind: 'files', args: [[...this.#files]] }
  }

  async list(prefix) {
    const inside = [...this.#files].filter(([name]) => name.startsWith(`${prefix}/`))
    return inside.map(([name, file]) => ({ name, size: file.size }))
  }

  async read(name, offset, length) {
    const file = this.#files.get(name)
    return file ? new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()) : null
  }
}
