// What was ticked in an archive, with its running total.

import { computed, signal } from '@preact/signals'
import type { Archive, Item } from 'portaborg'
import { isWithin, itemKey, pathOf, type Path } from '../path'

/** A file or a folder that was ticked. */
export interface Ticked {
  readonly key: string
  readonly path: Path
  readonly isFolder: boolean
  /** What is in it; undefined while that is counted. */
  readonly sum?: Sum
}

export interface Sum {
  items: number
  bytes: number
}

export class Basket {
  /** By key. */
  readonly ticked = signal<ReadonlyMap<string, Ticked>>(new Map())
  /** All that was counted so far. */
  readonly total = computed<Sum & { isCounting: boolean }>(() => {
    const all = [...this.ticked.value.values()]
    const add = (what: keyof Sum) => all.reduce((total, { sum }) => total + (sum?.[what] ?? 0), 0)
    return { items: add('items'), bytes: add('bytes'), isCounting: all.some(({ sum }) => !sum) }
  })
  #counts = new Map<string, AbortController>()

  constructor(readonly archive: Archive) {}

  /** Whether an item is in the basket, and if only as a part of a folder, of which. */
  state(key: string): { isTicked: boolean; within?: string } {
    if (this.ticked.value.has(key)) return { isTicked: true }
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) {
      const folder = key.slice(0, at)
      if (this.ticked.value.has(folder)) return { isTicked: true, within: folder }
    }
    return this.ticked.value.has('') ? { isTicked: true, within: '' } : { isTicked: false }
  }

  toggle(item: Item): void {
    const key = itemKey(item)
    const { isTicked, within } = this.state(key)
    if (within !== undefined) return
    if (isTicked) this.remove(key)
    else this.add(item)
  }

  add(item: Item): void {
    const isFolder = item.type === 'directory'
    this.addPath(itemKey(item), pathOf(item), isFolder, isFolder ? undefined : { items: 1, bytes: item.size })
  }

  addPath(key: string, path: Path, isFolder: boolean, sum?: Sum): void {
    if (this.state(key).isTicked) return
    const kept = [...this.ticked.value].filter(([other]) => !isFolder || !isWithin(key, other))
    for (const [other] of this.ticked.value) if (isFolder && isWithin(key, other)) this.#counts.get(other)?.abort()
    this.ticked.value = new Map([...kept, [key, { key, path, isFolder, ...(sum && { sum }) }]])
    if (isFolder && !sum) void this.#count(key, path)
  }

  remove(key: string): void {
    this.#counts.get(key)?.abort()
    this.ticked.value = new Map([...this.ticked.value].filter(([other]) => other !== key))
  }

  clear(): void {
    for (const count of this.#counts.values()) count.abort()
    this.ticked.value = new Map()
  }

  async #count(key: string, path: Path): Promise<void> {
    const controller = new AbortController()
    this.#counts.set(key, controller)
    try {
      this.#put(key, await countBelow(this.archive, path, controller.signal))
    } catch {
      if (!controller.signal.aborted) this.#put(key, { items: 0, bytes: 0 }) // what can't be listed is told when it is restored
    } finally {
      this.#counts.delete(key)
    }
  }

  #put(key: string, sum: Sum): void {
    const ticked = this.ticked.value.get(key)
    if (ticked) this.ticked.value = new Map(this.ticked.value).set(key, { ...ticked, sum })
  }
}

/** Counts a folder and all that is in it. */
export async function countBelow(archive: Archive, path: Path, signal: AbortSignal): Promise<Sum> {
  const sum = { items: 0, bytes: 0 }
  const under = path.bytes.length > 0 ? { under: path.bytes } : {}
  for await (const item of archive.items({ ...under, signal, onProblem: () => {} })) {
    sum.items += 1
    sum.bytes += item.size
  }
  return sum
}
