// Which characters bytes stand for, as far as that can be guessed.

export interface Decoded {
  text: string
  /** Name of the encoding. */
  encoding: string
}

/** The text that bytes are; undefined if they are none. `isCut` says that more bytes follow. */
export function guess(bytes: Uint8Array, isCut: boolean): Decoded | undefined {
  const start = (marks: number[]) => marks.every((mark, at) => bytes[at] === mark)
  if (start([0xef, 0xbb, 0xbf])) return decode(bytes, 'utf-8')
  if (start([0xff, 0xfe])) return decode(bytes, 'utf-16le')
  if (start([0xfe, 0xff])) return decode(bytes, 'utf-16be')
  const zeros = [0, 0]
  let controls = 0
  for (const [at, byte] of bytes.subarray(0, LOOKED_AT).entries()) {
    if (byte === 0) zeros[at % 2]! += 1
    else if (byte < 32 && !CALM.has(byte)) controls += 1
  }
  const looked = Math.min(bytes.length, LOOKED_AT)
  const [even = 0, odd = 0] = zeros
  // Letters of western languages have a zero in each pair.
  if (odd > looked * 0.3 && even < looked * 0.05) return decode(bytes, 'utf-16le')
  if (even > looked * 0.3 && odd < looked * 0.05) return decode(bytes, 'utf-16be')
  if (even + odd > 0 || controls > looked * 0.02) return undefined
  try {
    // A character that is cut at the end is none that is wrong.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
    return { text, encoding: isAscii(bytes) ? 'ASCII' : 'UTF-8' }
  } catch {
    return decode(bytes, 'windows-1252')
  }
}

function decode(bytes: Uint8Array, encoding: string): Decoded {
  return { text: new TextDecoder(encoding).decode(bytes), encoding: encoding.toUpperCase() }
}

function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 128)
}

const LOOKED_AT = 65_536
/** Tab, line feed, form feed, carriage return, escape. */
const CALM = new Set([9, 10, 12, 13, 27])
