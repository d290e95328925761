// One folder of an archive, as a list of which only what is looked at is there.

import { signal } from '@preact/signals'
import { PortaborgError, type Archive, type Item, type Sort } from 'portaborg'
import { itemKey, type Path } from '../path'

export interface Order {
  by: Sort
  isDescending: boolean
}

export class Folder {
  /** How many items there are; undefined until the first come. */
  readonly total = signal<number | undefined>(undefined)
  /** Changes whenever items come. */
  readonly version = signal(0)
  readonly error = signal<unknown>(null)
  readonly problems = signal<PortaborgError[]>([])
  #pages = new Map<number, Item[]>()
  #wanted: number[] = []
  #current: { page: number; controller: AbortController } | null = null
  #isClosed = false

  constructor(
    readonly archive: Archive,
    readonly path: Path,
    readonly order: Order,
  ) {
    this.want(0, 0)
  }

  /** The item in a place; undefined if it is not there yet, and then wants to be wanted. */
  at(place: number): Item | undefined {
    return this.#pages.get(Math.floor(place / PAGE))?.[place % PAGE]
  }

  /** Says which items are looked at: those are fetched first, then those around them. */
  want(first: number, last: number): void {
    const [from, to] = [Math.floor(first / PAGE), Math.floor(last / PAGE)]
    const wanted = Array.from({ length: to - from + 1 }, (_, number) => from + number)
    wanted.push(to + 1, from - 1, to + 2)
    const pages = this.total.value === undefined ? 1 : Math.ceil(this.total.value / PAGE)
    this.#wanted = wanted.filter((page) => page >= 0 && page < Math.max(1, pages))
    this.#forgetOthers()
    if (this.#current && !this.#wanted.slice(0, to - from + 1).includes(this.#current.page)) {
      // What is being fetched is looked at no more; what is looked at would have to wait for it.
      const isMissing = this.#wanted.slice(0, to - from + 1).some((page) => !this.#pages.has(page))
      if (isMissing) this.#current.controller.abort()
    }
    void this.#fetch()
  }

  /** Where an item is, if it has come. */
  placeOf(key: string): number | undefined {
    for (const [page, items] of this.#pages) {
      const place = items.findIndex((item) => itemKey(item) === key)
      if (place >= 0) return page * PAGE + place
    }
    return undefined
  }

  close(): void {
    this.#isClosed = true
    this.#current?.controller.abort()
  }

  async #fetch(): Promise<void> {
    if (this.#current || this.#isClosed) return
    const page = this.#wanted.find((wanted) => !this.#pages.has(wanted))
    if (page === undefined) return
    const controller = new AbortController()
    this.#current = { page, controller }
    try {
      const sort = this.order.isDescending ? (`-${this.order.by}` as const) : this.order.by
      const found: PortaborgError[] = []
      const { items, total } = await this.archive.dir(this.path.bytes, {
        sort,
        offset: page * PAGE,
        count: PAGE,
        signal: controller.signal,
        onProblem: (problem) => found.push(problem),
      })
      if (this.problems.value.length < found.length) this.problems.value = found
      this.#pages.set(page, total <= PAGE ? foldersFirst(items) : items)
      this.total.value = total
      this.version.value += 1
    } catch (error) {
      if (!controller.signal.aborted) {
        this.error.value = error
        this.#isClosed = true
      }
    } finally {
      this.#current = null
    }
    void this.#fetch()
  }

  /** Keeps what lies nearest to what is looked at. */
  #forgetOthers(): void {
    const middle = this.#wanted[0] ?? 0
    while (this.#pages.size > MOST_PAGES) {
      const farthest = [...this.#pages.keys()].reduce((a, b) => (Math.abs(a - middle) > Math.abs(b - middle) ? a : b))
      this.#pages.delete(farthest)
    }
  }
}

/** Items that are fetched at once, and pages of them that are kept. */
const PAGE = 1000
const MOST_PAGES = 100

function foldersFirst(items: Item[]): Item[] {
  const isFolder = ({ type }: Item) => type === 'directory'
  return [...items.filter(isFolder), ...items.filter((item) => !isFolder(item))]
}
