// Items with their contents, in order, as the worker gives them.

import { toError } from './errors.js'
import { Item } from './item.js'

/**
 * Gives `{ item, pieces }`: `pieces` is to be read before the next item is asked for, or else is passed over. A part of the
 * content that can't be had is zeros, and `onProblem(problem, item)` is told; without that, the problem is thrown.
 */
export async function* contents(stream, onProblem) {
  const tell = (failure, item) => {
    const problem = toError(failure)
    if (!onProblem) throw problem
    onProblem(problem, item)
  }
  try {
    for await (const { text, bytes } of stream) {
      const { items = [], contents, problem } = JSON.parse(text)
      if (problem) tell(problem)
      for (const [number, row] of items.entries()) {
        const item = new Item(row, bytes)
        const [start, length] = contents?.[number] ?? []
        if (contents) {
          yield { item, pieces: length > 0 ? [bytes.slice(start, start + length)] : [] }
          continue
        }
        const pieces = piecesOf(stream, item, tell)
        yield { item, pieces }
        for await (const _ of pieces); // whatever nobody wanted
      }
    }
  } finally {
    await stream.return()
  }
}

async function* piecesOf(stream, item, tell) {
  while (true) {
    const { done, value } = await stream.next()
    if (done) return
    if (value.text === undefined) {
      yield value.bytes
      continue
    }
    const { end, hole } = JSON.parse(value.text)
    if (end) return
    tell(hole, item)
  }
}

/** What many short pieces are put together to. */
const PIECE_BYTES = 64 * 1024

/** A stream of what a generator of pieces gives, which is asked for no more than its consumer takes. */
export function streamOf(generator) {
  return new ReadableStream(
    {
      pull: async (controller) => {
        const short = []
        let length = 0
        while (true) {
          const { done, value } = await generator.next()
          const isLong = value?.length >= PIECE_BYTES
          if (value && !isLong) {
            short.push(value)
            length += value.length
          }
          if (!done && !isLong && length < PIECE_BYTES) continue
          if (length > 0) controller.enqueue(join(short, length))
          if (isLong) controller.enqueue(value)
          if (done) controller.close()
          return
        }
      },
      cancel: () => generator.return(),
    },
    { highWaterMark: 0 },
  )
}

/** All parts as one. */
export function join(parts, length = parts.reduce((sum, part) => sum + part.length, 0)) {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
