// Paths in an archive. What is shown of one is text; what it is are its bytes.

import type { Item } from 'portaborg'

export interface Path {
  /** The path as text, in which bytes that are no UTF-8 are replaced. */
  readonly text: string
  /** The path as it is stored. */
  readonly bytes: Uint8Array
}

/** What an archive holds is below this. */
export const ROOT: Path = { text: '', bytes: new Uint8Array(0) }

export function pathOf(item: Item): Path {
  return { text: item.path, bytes: item.pathBytes }
}

export function pathFrom(text: string): Path {
  return { text, bytes: new TextEncoder().encode(text) }
}

/** What two paths are told apart by. */
export function keyOf(path: Path): string {
  return hasDoubt(path.text) ? latin1(path.bytes) : path.text
}

/** The same for an item, without making its path's bytes where they aren't needed. */
export function itemKey(item: Item): string {
  return hasDoubt(item.path) ? latin1(item.pathBytes) : item.path
}

/** The last part of a path's text. */
export function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1)
}

/** The folders from the root down to a path, and the path itself. */
export function steps(path: Path): Path[] {
  const found: Path[] = [ROOT]
  for (let at = 0; at <= path.bytes.length && path.bytes.length > 0; at += 1) {
    if (at < path.bytes.length && path.bytes[at] !== SLASH) continue
    const bytes = path.bytes.subarray(0, at)
    found.push({ bytes, text: at === path.bytes.length ? path.text : utf8.decode(bytes) })
  }
  return found
}

export function parentOf(path: Path): Path {
  return steps(path).at(-2) ?? ROOT
}

/** Whether a key is that of a folder's, or of something in it. */
export function isWithin(folder: string, key: string): boolean {
  return folder === '' || key === folder || key.startsWith(`${folder}/`)
}

const SLASH = 47
const utf8 = new TextDecoder()

/** Whether the text could stand for other bytes than its own. */
function hasDoubt(text: string): boolean {
  return text.includes('\uFFFD') || text.includes('?')
}

/** Slashes stay slashes, so that one key is within another as one path is. */
function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
