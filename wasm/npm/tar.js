// Tar files with PAX headers (POSIX.1-2001): all that an archive says of its items, but for ACLs and flags.

import { join } from './contents.js'
import { MisuseError } from './errors.js'

const utf8 = new TextEncoder()
const BLOCK_BYTES = 512
/** Lengths and ids beyond these are in PAX records alone. */
const MAX_SIZE = 0o77777777777
const MAX_ID = 0o7777777
const TYPES = { file: '0', symlink: '2', 'character device': '3', 'block device': '4', directory: '5', fifo: '6' }

/** The pieces of a tar file. Hard links are files of their own. What tar has no type for is told as a problem. */
export async function* tar(entries, onProblem) {
  for await (const { item, pieces } of entries) {
    if (!TYPES[item.type]) {
      const message = `${item.path} is left out: a tar file has no such type.`
      onProblem?.(new MisuseError({ code: 'CommandError', object: item.path, message }), item)
      continue
    }
    yield join([paxHeader(item), header(item)])
    if (item.type !== 'file') continue
    yield* pieces
    yield new Uint8Array(padding(item.size))
  }
  yield new Uint8Array(2 * BLOCK_BYTES)
}

function paxHeader(item) {
  const ns = item.mtimeNs
  const secs = ns / 1000000000n - (ns % 1000000000n < 0n ? 1n : 0n)
  const records = [
    record('path', nameOf(item)),
    record('mtime', utf8.encode(`${secs}.${String(ns - secs * 1000000000n).padStart(9, '0')}`)),
  ]
  if (item.target !== undefined) records.push(record('linkpath', item.targetBytes))
  if (item.type === 'file' && item.size > MAX_SIZE) records.push(record('size', utf8.encode(String(item.size))))
  for (const [key, name] of [['uname', item.user], ['gname', item.group]]) {
    if (name) records.push(record(key, utf8.encode(name)))
  }
  for (const [key, id] of [['uid', item.uid], ['gid', item.gid]]) {
    if (id > MAX_ID) records.push(record(key, utf8.encode(String(id))))
  }
  for (const [name, value] of item.xattrs) records.push(record(`SCHILY.xattr.${name}`, value))
  const content = join(records)
  const fields = { name: utf8.encode('././@PaxHeader'), mode: 0o644, size: content.length, type: 'x' }
  return join([block(fields), content, new Uint8Array(padding(content.length))])
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself. */
function record(key, value) {
  const rest = utf8.encode(` ${key}=`).length + value.length + 1
  let length = rest + String(rest).length
  length = rest + String(length).length
  return join([utf8.encode(`${length} ${key}=`), value, utf8.encode('\n')])
}

function header(item) {
  const isDevice = item.type.endsWith('device')
  const rdev = isDevice ? (item.rdev ?? 0n) : 0n
  return block({
    name: nameOf(item),
    mode: item.mode & 0o7777,
    uid: item.uid,
    gid: item.gid,
    size: item.type === 'file' ? item.size : 0,
    mtime: Number(item.mtimeNs / 1000000000n),
    type: TYPES[item.type],
    link: item.targetBytes,
    uname: utf8.encode(item.user ?? ''),
    gname: utf8.encode(item.group ?? ''),
    // As Linux puts them together.
    major: Number(((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & 0xfffff000n)),
    minor: Number((rdev & 0xffn) | ((rdev >> 12n) & 0xffffff00n)),
  })
}

function nameOf(item) {
  return item.type === 'directory' ? join([item.pathBytes, utf8.encode('/')]) : item.pathBytes
}

function block({ name, mode = 0, uid = 0, gid = 0, size, mtime = 0, type, link, uname, gname, major = 0, minor = 0 }) {
  const bytes = new Uint8Array(BLOCK_BYTES)
  const text = (at, length, value) => value && bytes.set(value.subarray(0, length), at)
  const number = (at, length, value, most) => {
    const fits = value >= 0 && value <= most ? value : 0 // the PAX record has it
    text(at, length, utf8.encode(fits.toString(8).padStart(length - 1, '0')))
  }
  text(0, 100, name)
  number(100, 8, mode, MAX_ID)
  number(108, 8, uid, MAX_ID)
  number(116, 8, gid, MAX_ID)
  number(124, 12, size, MAX_SIZE)
  number(136, 12, mtime, MAX_SIZE)
  text(148, 8, utf8.encode(' '.repeat(8)))
  text(156, 1, utf8.encode(type))
  text(157, 100, link)
  text(257, 8, utf8.encode('ustar\x0000'))
  text(265, 31, uname)
  text(297, 31, gname)
  number(329, 8, major, MAX_ID)
  number(337, 8, minor, MAX_ID)
  let sum = 0
  for (const byte of bytes) sum += byte
  text(148, 8, utf8.encode(`${sum.toString(8).padStart(6, '0')}\x00 `))
  return bytes
}

function padding(length) {
  return (BLOCK_BYTES - (length % BLOCK_BYTES)) % BLOCK_BYTES
}
