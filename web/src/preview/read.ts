// Bytes of a file for a preview.

import type { Archive, Item } from 'portaborg'

/** The first bytes of a file: as many as could be had, and why there are no more. Throws what the signal says. */
export async function head(archive: Archive, item: Item, length: number, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; error: unknown }> {
  const parts: Uint8Array[] = []
  let error: unknown = null
  try {
    const reader = archive.open(item, { range: { start: 0, end: Math.min(length, item.size) }, signal }).getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value)
  } catch (thrown) {
    signal.throwIfAborted()
    error = thrown
  }
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, error }
}
