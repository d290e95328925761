// Items: what an archive says of one file, directory or link. Most of it is made of a batch's text and bytes when it is asked for.

const utf8 = new TextEncoder()
const CHUNK_BYTES = 40
const ID_BYTES = 32

export class Item {
  #row
  #bytes

  constructor(row, bytes) {
    this.#row = row
    this.#bytes = bytes
  }

  /** The path as text, in which bytes that are none are question marks. */
  get path() {
    return this.#row.path
  }
  /** The path as it is stored. */
  get pathBytes() {
    return this.#raw(this.#row.pathBytes, this.#row.path)
  }
  get type() {
    return this.#row.type
  }
  get size() {
    return this.#row.size
  }
  get mode() {
    return this.#row.mode
  }
  get uid() {
    return this.#row.uid
  }
  get gid() {
    return this.#row.gid
  }
  get user() {
    return this.#row.user
  }
  get group() {
    return this.#row.group
  }
  get mtimeNs() {
    return BigInt(this.#row.mtime)
  }
  get atimeNs() {
    return bigint(this.#row.atime)
  }
  get ctimeNs() {
    return bigint(this.#row.ctime)
  }
  get birthtimeNs() {
    return bigint(this.#row.birthtime)
  }
  get inode() {
    return bigint(this.#row.inode)
  }
  get rdev() {
    return bigint(this.#row.rdev)
  }
  get target() {
    return this.#row.target
  }
  get targetBytes() {
    return this.#row.target === undefined ? undefined : this.#raw(this.#row.targetBytes, this.#row.target)
  }
  get hlid() {
    return this.#row.hlid
  }
  get flags() {
    return this.#row.flags
  }
  /** Names and values. */
  get xattrs() {
    const pairs = this.#row.xattrs ?? []
    return new Map(pairs.map(([name, place]) => [name, this.#at(place).slice()]))
  }
  get acl() {
    return { ...this.#row.acl }
  }
  /** Ids and sizes of the content's pieces; undefined for what has no content. */
  get chunks() {
    if (!this.#row.chunks) return undefined
    const bytes = this.#at(this.#row.chunks)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const chunks = []
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const id = hex(bytes.subarray(at, at + ID_BYTES))
      chunks.push({ id, size: Number(view.getBigUint64(at + ID_BYTES, true)) })
    }
    return chunks
  }

  /** What a worker takes for the content; undefined for what has none. */
  static content(item) {
    return item.#row.chunks && item.#at(item.#row.chunks).slice()
  }

  toJSON() {
    const { pathBytes, targetBytes, chunks, xattrs, mtime, atime, ctime, birthtime, ...rest } = this.#row
    return { ...rest, mtimeNs: mtime, atimeNs: atime, ctimeNs: ctime, birthtimeNs: birthtime, chunks: this.chunks }
  }

  #raw(place, text) {
    return place ? this.#at(place).slice() : utf8.encode(text)
  }

  #at([start, length]) {
    return this.#bytes.subarray(start, start + length)
  }
}

function bigint(text) {
  return text === undefined ? undefined : BigInt(text)
}

function hex(bytes) {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}
