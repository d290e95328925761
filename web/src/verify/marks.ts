// What is known to be damaged in an archive.

import { computed, signal } from '@preact/signals'
import type { Archive, Damage, PortaborgError } from 'portaborg'

/** A damaged file. */
export interface Mark {
  readonly path: string
  /** How many pieces can't be had. */
  readonly broken: number
  readonly problem: PortaborgError
  readonly parts: Damage['parts']
}

export type CheckState = 'unknown' | 'checking' | 'checked' | 'failed'

export class Marks {
  /** Damaged files, by path. */
  readonly files = signal<ReadonlyMap<string, Mark>>(new Map())
  /** What is wrong with the archive's list of items. */
  readonly list = signal<PortaborgError[]>([])
  readonly state = signal<CheckState>('unknown')
  /** How much has been read for the check, in bytes. */
  readonly read = signal(0)
  /** Folders that have damaged files in them, with their number. */
  readonly folders = computed(() => {
    const counts = new Map<string, number>()
    for (const path of this.files.value.keys()) {
      for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
        const folder = path.slice(0, at)
        counts.set(folder, (counts.get(folder) ?? 0) + 1)
      }
    }
    return counts
  })
  #controller: AbortController | null = null

  constructor(readonly archive: Archive) {}

  add(mark: Mark): void {
    this.files.value = new Map(this.files.value).set(mark.path, mark)
  }

  addProblem(problem: PortaborgError): void {
    if (!this.list.value.some(({ message }) => message === problem.message)) this.list.value = [...this.list.value, problem]
  }

  /** Reads all of the archive's content. */
  async check(): Promise<void> {
    if (this.state.value === 'checking') return
    const controller = (this.#controller = new AbortController())
    this.state.value = 'checking'
    const onProgress = ({ bytes }: { bytes: number }) => (this.read.value = bytes)
    try {
      for await (const { path, broken, parts, problem } of this.archive.damage({ onProgress, signal: controller.signal })) {
        if (path === undefined) this.addProblem(problem)
        else this.add({ path, broken, parts, problem })
      }
      this.state.value = 'checked'
    } catch (error) {
      this.state.value = controller.signal.aborted ? 'unknown' : 'failed'
      if (!controller.signal.aborted) this.addProblem(error as PortaborgError)
    }
  }

  stop(): void {
    this.#controller?.abort()
  }
}
