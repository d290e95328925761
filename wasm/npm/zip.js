// Zip files for everyone's programs: names that every system takes, lengths beyond 4 GiB, nothing compressed.

import { join } from './contents.js'
import { MisuseError } from './errors.js'

const utf8 = new TextEncoder()
/** What is not compressed is in blocks of so many bytes, each behind a header of five (RFC 1951, section 3.2.4). */
const STORED_BYTES = 65535
const STORED_HEADER_BYTES = 5
const MAX_32 = 0xffffffff
const MAX_16 = 0xffff
/** That sizes and checksum are behind the content, and that names are UTF-8. */
const FLAGS = 0x0808
const DEFLATED = 8
const UNIX = 3 << 8
const NEEDED = 45

/** The pieces of a zip file. What has neither content nor files in it, nor points anywhere, is told as a problem. */
export async function* zip(entries, onProblem) {
  const names = new Set()
  const central = []
  let offset = 0
  for await (const { item, pieces } of entries) {
    if (!['file', 'directory', 'symlink'].includes(item.type)) {
      const message = `${item.path} is left out: a zip file has no such type.`
      onProblem?.(new MisuseError({ code: 'CommandError', object: item.path, message }), item)
      continue
    }
    if (item.path === '.') continue
    const entry = { item, name: utf8.encode(uniqueName(item, names)), offset, crc: 0, size: 0, packed: 0 }
    const size = item.type === 'file' ? item.size : (item.targetBytes?.length ?? 0)
    entry.isLong = packedBytes(size) > MAX_32
    const local = localHeader(entry)
    yield local
    offset += local.length
    for await (const piece of item.type === 'file' ? pieces : [item.targetBytes ?? new Uint8Array(0)]) {
      entry.crc = crc32(piece, entry.crc)
      entry.size += piece.length
      for (let at = 0; at < piece.length; at += STORED_BYTES) {
        const some = piece.subarray(at, at + STORED_BYTES)
        entry.packed += STORED_HEADER_BYTES + some.length
        yield storedHeader(some.length, 0)
        yield some
      }
    }
    entry.packed += STORED_HEADER_BYTES
    const end = join([storedHeader(0, 1), descriptor(entry)])
    yield end
    offset += entry.packed + end.length - STORED_HEADER_BYTES
    const { item: { mode, type, mtimeNs }, ...rest } = entry
    central.push({ ...rest, mode, type, mtimeNs })
  }
  const start = offset
  for (const entry of central) {
    const header = centralHeader(entry)
    yield header
    offset += header.length
  }
  yield trailer(central.length, start, offset)
}

/** At most: pieces are no shorter than a block, unless they are the last. */
function packedBytes(size) {
  return size + STORED_HEADER_BYTES * (1 + 2 * Math.ceil(size / STORED_BYTES))
}

/** A name that Windows takes, too, and that no other entry has, whatever the case. */
function uniqueName(item, names) {
  const parts = item.path.split('/').map((part) => {
    const safe = part.replace(/[\\:*?"<>|\x00-\x1f\x7f]/g, '_').replace(/[. ]+$/, (end) => '_'.repeat(end.length))
    return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(safe) ? `_${safe}` : safe
  })
  const wanted = parts.join('/')
  const slash = item.type === 'directory' ? '/' : ''
  let name = wanted
  for (let number = 2; names.has(name.toLowerCase()); number += 1) {
    name = wanted.replace(/(\.[^./]*)?$/, (extension) => ` (${number})${extension}`)
  }
  names.add(name.toLowerCase())
  return name + slash
}

function localHeader({ name, item, isLong }) {
  const extra = isLong ? fields([2, 1], [2, 16], [8, 0], [8, 0]) : new Uint8Array(0)
  const size = isLong ? MAX_32 : 0
  const [time, date] = dosTime(item.mtimeNs)
  const head = fields([4, 0x04034b50], [2, NEEDED], [2, FLAGS], [2, DEFLATED], [2, time], [2, date], [4, 0], [4, size], [4, size])
  return join([head, fields([2, name.length], [2, extra.length]), name, extra])
}

function descriptor({ crc, packed, size, isLong }) {
  const bytes = isLong ? 8 : 4
  return fields([4, 0x08074b50], [4, crc], [bytes, packed], [bytes, size])
}

function centralHeader({ name, offset, crc, packed, size, isLong, mode, type, mtimeNs }) {
  const isFar = isLong || offset >= MAX_32
  const extra = isFar ? fields([2, 1], [2, 24], [8, size], [8, packed], [8, offset]) : new Uint8Array(0)
  const or = (value) => (isFar ? MAX_32 : value)
  const [time, date] = dosTime(mtimeNs)
  const attributes = ((mode ?? 0o100644) * 0x10000 + (type === 'directory' ? 0x10 : 0)) >>> 0
  return join([
    fields([4, 0x02014b50], [2, UNIX | NEEDED], [2, NEEDED], [2, FLAGS], [2, DEFLATED], [2, time], [2, date], [4, crc]),
    fields([4, or(packed)], [4, or(size)], [2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0], [4, attributes]),
    fields([4, or(offset)]),
    name,
    extra,
  ])
}

function trailer(count, start, end) {
  const size = end - start
  const long = join([
    fields([4, 0x06064b50], [8, 44], [2, UNIX | NEEDED], [2, NEEDED], [4, 0], [4, 0], [8, count], [8, count]),
    fields([8, size], [8, start]),
    fields([4, 0x07064b50], [4, 0], [8, end], [4, 1]),
  ])
  const isLong = count >= MAX_16 || end >= MAX_32
  const [few, near] = [Math.min(count, MAX_16), (value) => Math.min(value, MAX_32)]
  const short = fields([4, 0x06054b50], [2, 0], [2, 0], [2, few], [2, few], [4, near(size)], [4, near(start)], [2, 0])
  return isLong ? join([long, short]) : short
}

function storedHeader(length, isLast) {
  return fields([1, isLast], [2, length], [2, length ^ 0xffff])
}

/** Time and date in UTC, to two seconds, from 1980 on. */
function dosTime(mtimeNs) {
  const ms = Number(mtimeNs / 1000000n)
  const at = new Date(Math.min(Math.max(ms, Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31)))
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return [time, ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()]
}

/** Numbers of so many bytes each, little end first. */
function fields(...pairs) {
  const bytes = new Uint8Array(pairs.reduce((sum, [length]) => sum + length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [length, value] of pairs) {
    if (length === 8) view.setBigUint64(at, BigInt(value), true)
    else if (length === 4) view.setUint32(at, value, true)
    else if (length === 2) view.setUint16(at, value, true)
    else view.setUint8(at, value)
    at += length
  }
  return bytes
}

/** Eight bytes at once, with eight tables. */
function crc32(bytes, before) {
  let crc = ~before
  let at = 0
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES
  for (const end = bytes.length - 7; at < end; at += 8) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
    crc =
      t7[crc & 255] ^ t6[(crc >>> 8) & 255] ^ t5[(crc >>> 16) & 255] ^ t4[crc >>> 24] ^
      t3[bytes[at + 4]] ^ t2[bytes[at + 5]] ^ t1[bytes[at + 6]] ^ t0[bytes[at + 7]]
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ t0[(crc ^ bytes[at]) & 255]
  return ~crc >>> 0
}

const TABLES = Array.from({ length: 8 }, () => new Uint32Array(256))
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  TABLES[0][byte] = crc
}
for (let table = 1; table < 8; table += 1) {
  for (let byte = 0; byte < 256; byte += 1) {
    const crc = TABLES[table - 1][byte]
    TABLES[table][byte] = (crc >>> 8) ^ TABLES[0][crc & 255]
  }
}
