// Entries, as the worker takes them: each as JSON, and after it its content in pieces.

import { misuse } from '../errors.js'

/** How much is sent at once; short pieces are put together up to it. */
const PIECE_BYTES = 1 << 20

/** An iterator of what the worker asks for next; what the caller's own code throws is kept as `error`. */
export function feedOf(entries) {
  const parts = partsOf(entries)
  const feed = {
    error: null,
    async next() {
      try {
        return await parts.next()
      } catch (error) {
        feed.error = { error }
        throw error
      }
    },
    return: () => parts.return(),
  }
  return feed
}

async function* partsOf(entries) {
  for await (const entry of entries) {
    yield JSON.stringify(plain(entry))
    if (entry.content !== undefined && entry.content !== null) yield* gathered(piecesOf(entry.content, entry.path))
  }
}

/** What can be said of an entry in JSON. */
function plain(entry) {
  const { path, pathBytes, type, mode, uid, gid, user, group, target, targetBytes, hlid, flags, xattrs, acl } = entry
  const text = (value) => (value instanceof Uint8Array ? [...value] : value)
  const number = (value) => (value === undefined || value === null ? undefined : String(value))
  const pairs = xattrs && (xattrs instanceof Map ? [...xattrs] : Object.entries(xattrs))
  return {
    path: text(pathBytes ?? path),
    type,
    mode,
    uid,
    gid,
    user: text(user),
    group: text(group),
    target: text(targetBytes ?? target),
    hlid: hlid && (typeof hlid === 'string' ? bytesOfHex(hlid) : [...hlid]),
    flags,
    xattrs: pairs?.map(([name, value]) => [text(name), text(value)]),
    acl: acl ?? undefined,
    mtimeNs: number(entry.mtimeNs),
    atimeNs: number(entry.atimeNs),
    ctimeNs: number(entry.ctimeNs),
    birthtimeNs: number(entry.birthtimeNs),
    inode: number(entry.inode),
    rdev: number(entry.rdev),
  }
}

function bytesOfHex(digits) {
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw misuse('hlid', 'A hlid is hexadecimal digits, or bytes.')
  return (digits.match(/../g) ?? []).map((byte) => parseInt(byte, 16))
}

async function* piecesOf(content, path) {
  if (typeof content === 'string') yield new TextEncoder().encode(content)
  else if (content instanceof Uint8Array) yield content
  else if (content instanceof ArrayBuffer) yield new Uint8Array(content)
  else if (typeof content.stream === 'function') yield* chunksOf(content.stream())
  else if (typeof content.getReader === 'function') yield* chunksOf(content)
  else if (content[Symbol.asyncIterator] || content[Symbol.iterator]) yield* content
  else throw misuse(String(path), `${path}: this is no valid value for content.`)
}

/** Streams are not iterable everywhere. */
async function* chunksOf(stream) {
  const reader = stream.getReader()
  let ended = false
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) break
      yield value
    }
    ended = true
  } finally {
    if (!ended) await reader.cancel().catch(() => {})
  }
}

/** Pieces that are neither short nor too long. */
async function* gathered(pieces) {
  let kept = []
  let length = 0
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) throw misuse('content', 'A content consists of Uint8Arrays.')
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      const part = piece.subarray(at, at + PIECE_BYTES)
      if (length + part.length > PIECE_BYTES) {
        yield joined(kept, length)
        kept = []
        length = 0
      }
      // A piece that is kept may be overwritten by who gave it.
      kept.push(part.slice())
      length += part.length
    }
  }
  if (length > 0) yield joined(kept, length)
}

function joined(pieces, length) {
  if (pieces.length === 1) return pieces[0]
  const all = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
