// Files into a folder of this machine. What is there stays as it is, unless somebody wants it replaced.

import type { Archive, Item } from 'portaborg'
import { keyOf, steps, type Path } from '../path'
import { texts } from '../texts'
import type { Ticked } from './basket'
import type { Job } from './job'
import { Names, numbered } from './names'

/** What happens to a file whose name is taken: both are kept, the old one, or the new one. */
export type IfThere = 'number' | 'skip' | 'replace'

export async function restoreInto(job: Job, archive: Archive, ticked: readonly Ticked[], root: FileSystemDirectoryHandle, ifThere: IfThere): Promise<void> {
  const target = new Target(job, root, ifThere, commonFolder(ticked))
  const paths = ticked.filter(({ key }) => key !== '').map(({ path }) => path.bytes)
  await archive.restore({
    ...(paths.length > 0 && { paths }),
    sink: { item: (item) => target.put(item) },
    onProblem: job.onProblem,
    signal: job.signal,
  })
}

/** How many folders are above all that was ticked: they are not made. */
function commonFolder(ticked: readonly Ticked[]): number {
  const parents = ticked.map(({ path }) => steps(path).slice(0, -1).map(keyOf))
  const [first = []] = parents
  const differs = first.findIndex((key, depth) => parents.some((other) => other[depth] !== key))
  return Math.max(0, (differs < 0 ? first.length : differs) - 1)
}

/** A folder that was made or found, with the names that were given out in it. */
interface Made {
  handle: FileSystemDirectoryHandle
  names: Names
}

class Target {
  #made = new Map<string, Made>()

  constructor(
    readonly job: Job,
    root: FileSystemDirectoryHandle,
    readonly ifThere: IfThere,
    /** Steps that are cut off. */
    readonly depth: number,
  ) {
    this.#made.set('', { handle: root, names: new Names() })
  }

  /** Makes a folder, or a file, whose content is then to be written. What can't be made is remarked. */
  async put(item: Item): Promise<WritableStream<Uint8Array> | undefined> {
    await this.job.ready()
    const way = steps({ text: item.path, bytes: item.pathBytes }).slice(1 + this.depth)
    if (way.length === 0 || item.path === '.') return undefined
    try {
      if (item.type === 'directory') {
        await this.#folder(way)
        return undefined
      }
      if (item.type !== 'file') {
        this.#leaveOut(item, texts.restore.cannotMake[item.type] ?? texts.restore.cannotMake.other)
        return undefined
      }
      return await this.#file(item, way)
    } catch (error) {
      this.job.signal.throwIfAborted()
      if (error instanceof DOMException && error.name === 'QuotaExceededError') throw error
      this.#leaveOut(item, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  async #folder(way: readonly Path[]): Promise<Made> {
    const path = way.at(-1)
    const key = path ? keyOf(path) : ''
    const known = this.#made.get(key)
    if (known || !path) return known!
    const parent = await this.#folder(way.slice(0, -1))
    const wanted = lastStep(path)
    let name = parent.names.of(wanted)
    for (let number = 2; ; number += 1) {
      try {
        const handle = await parent.handle.getDirectoryHandle(name, { create: true })
        const made = { handle, names: new Names() }
        this.#made.set(key, made)
        if (name !== wanted) this.job.remark({ kind: 'renamed', path: path.text, text: name })
        return made
      } catch (error) {
        // A file that has the name stays.
        if (!(error instanceof DOMException && error.name === 'TypeMismatchError') || number > MOST_NUMBERS) throw error
        name = parent.names.give(wanted, numbered(name, number))
      }
    }
  }

  async #file(item: Item, way: readonly Path[]): Promise<WritableStream<Uint8Array> | undefined> {
    const { handle, names } = await this.#folder(way.slice(0, -1))
    const wanted = lastStep(way.at(-1)!)
    let name = names.of(wanted)
    if (await exists(handle, name)) {
      if (this.ifThere === 'skip') {
        this.#leaveOut(item, texts.restore.isThere)
        return undefined
      }
      if (this.ifThere === 'number') {
        const plainName = name
        for (let number = 2; await exists(handle, name); number += 1) name = names.give(wanted, numbered(plainName, number))
      }
    }
    const file = await handle.getFileHandle(name, { create: true })
    if (name !== wanted) this.job.remark({ kind: 'renamed', path: item.path, text: name })
    const writable = (await file.createWritable()).getWriter() as WritableStreamDefaultWriter<unknown>
    this.job.files.value += 1
    return new WritableStream<Uint8Array>({
      write: async (bytes) => {
        await this.job.ready()
        await writable.write(bytes)
        this.job.wrote(bytes.length)
      },
      close: () => writable.close(),
      abort: (reason) => writable.abort(reason),
    })
  }

  #leaveOut({ path }: Item, text: string): void {
    this.job.remark({ kind: 'left-out', path, text })
  }
}

const MOST_NUMBERS = 10_000

function lastStep({ text }: Path): string {
  return text.slice(text.lastIndexOf('/') + 1)
}

/** Whether anything has a name. */
async function exists(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  try {
    await folder.getFileHandle(name)
    return true
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TypeMismatchError') return true
    if (error instanceof DOMException && error.name === 'NotFoundError') return false
    throw error
  }
}
