// Something that is being restored: how far it is, what went wrong, and ways to hold and to end it.

import { signal } from '@preact/signals'
import type { Item, PortaborgError } from 'portaborg'

export type JobState = 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled'

/** Something that was not restored as it is in the archive. */
export interface Remark {
  kind: 'damaged' | 'left-out' | 'renamed'
  path: string
  text: string
}

export class Job {
  readonly state = signal<JobState>('waiting')
  /** Bytes that were written. */
  readonly bytes = signal(0)
  /** Bytes that there are to write; undefined while that is being counted. */
  readonly total = signal<number | undefined>(undefined)
  readonly files = signal(0)
  readonly remarks = signal<Remark[]>([])
  readonly error = signal<unknown>(null)
  /** Bytes per second, of late; undefined at the beginning. */
  readonly rate = signal<number | undefined>(undefined)
  /** How long it took, in seconds. */
  readonly took = signal(0)
  #controller = new AbortController()
  #resume: (() => void) | null = null
  #held: Promise<void> | null = null
  #samples: { at: number; bytes: number }[] = []
  #remarked: Remark[] = []

  constructor(
    /** What is restored, and where to. */
    readonly title: string,
    readonly place: string,
  ) {}

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Does the work, and tells how it ended. */
  async run(work: () => Promise<void>): Promise<void> {
    this.state.value = 'running'
    const began = performance.now()
    const timer = setInterval(() => this.#sample(), SAMPLE_INTERVAL)
    try {
      await work()
      this.signal.throwIfAborted()
      this.state.value = 'done'
    } catch (error) {
      this.error.value = error
      this.state.value = this.signal.aborted ? 'cancelled' : 'failed'
    } finally {
      clearInterval(timer)
      this.#sample()
      this.took.value = (performance.now() - began) / 1000
    }
  }

  /** Waits while the job is held. */
  async ready(): Promise<void> {
    this.signal.throwIfAborted()
    while (this.#held) await this.#held
    this.signal.throwIfAborted()
  }

  pause(): void {
    if (this.state.value !== 'running') return
    this.#held = new Promise((resolve) => (this.#resume = resolve))
    this.state.value = 'paused'
  }

  resume(): void {
    if (this.state.value !== 'paused') return
    this.#samples = []
    this.#held = null
    this.#resume?.()
    this.state.value = 'running'
  }

  cancel(): void {
    this.#controller.abort(new DOMException('The job was cancelled.', 'AbortError'))
    this.#held = null
    this.#resume?.()
  }

  wrote(bytes: number): void {
    this.#written += bytes
  }
  #written = 0

  remark(remark: Remark): void {
    this.#remarked.push(remark)
    if (this.#remarked.length <= MOST_SHOWN || this.#remarked.length % 100 === 0) this.remarks.value = [...this.#remarked]
  }

  /** Takes what the package says of an item that can't be had as it is. */
  readonly onProblem = (problem: PortaborgError, item?: Item): void => {
    const kind = /left out/.test(problem.message) ? 'left-out' : 'damaged'
    this.remark({ kind, path: item?.path ?? problem.object, text: problem.message })
  }

  #sample(): void {
    if (this.state.value === 'paused') return
    const at = performance.now()
    this.bytes.value = this.#written
    this.remarks.value = [...this.#remarked]
    this.#samples.push({ at, bytes: this.#written })
    if (this.#samples.length > SAMPLES) this.#samples.shift()
    const [first] = this.#samples
    if (first && at - first.at > SAMPLE_INTERVAL) this.rate.value = ((this.#written - first.bytes) / (at - first.at)) * 1000
  }
}

/** In milliseconds. */
const SAMPLE_INTERVAL = 250
const SAMPLES = 24
const MOST_SHOWN = 20

export function isOver(state: JobState): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled'
}
