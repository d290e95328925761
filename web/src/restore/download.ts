// A stream into one file of the person's choice: written where a picker says, or downloaded while it is read, or, where a browser
// can do neither, gathered in memory first.

import { address, hasAddresses } from '../service/page'
import type { Job } from './job'

export interface Target {
  /** Writes all of a stream. */
  take(stream: ReadableStream<Uint8Array>): Promise<void>
  name: string
}

/** Whether what is saved has to be in memory first. */
export function isGathered(): boolean {
  return !window.showSaveFilePicker && !hasAddresses()
}

/** Asks where to save; must be called by a click. Undefined if the person thought better of it. */
export async function chooseTarget(name: string, job: () => Job): Promise<Target | undefined> {
  if (window.showSaveFilePicker) {
    try {
      const handle = await window.showSaveFilePicker({ id: 'restore', suggestedName: name })
      return { name: handle.name, take: (stream) => write(handle, stream, job()) }
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return undefined
      if (!(error instanceof DOMException && error.name === 'SecurityError')) throw error
    }
  }
  return { name, take: (stream) => (hasAddresses() ? download(name, stream, job()) : gather(name, stream, job())) }
}

async function write(handle: FileSystemFileHandle, stream: ReadableStream<Uint8Array>, job: Job): Promise<void> {
  const file = await handle.createWritable()
  await stream.pipeThrough(meter(job)).pipeTo(file as unknown as WritableStream<Uint8Array>, { signal: job.signal })
}

/** The browser's own download of an address at which the service worker hands over what is read here. */
async function download(name: string, stream: ReadableStream<Uint8Array>, job: Job): Promise<void> {
  const metered = stream.pipeThrough(meter(job), { signal: job.signal })
  const frame = document.createElement('iframe')
  frame.hidden = true
  let revoke = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('The browser did not start the download.')), PATIENCE)
      const made = address({
        headers: [
          ['Content-Type', 'application/octet-stream'],
          ['Content-Disposition', `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percent)}`],
        ],
        open: () => {
          clearTimeout(late)
          return metered
        },
        onEnd: (error) => (error ? reject(error) : resolve()),
      })
      revoke = made.revoke
      job.signal.addEventListener('abort', () => reject(job.signal.reason))
      frame.src = made.url
      document.body.append(frame)
    })
  } finally {
    revoke()
    setTimeout(() => frame.remove(), PATIENCE)
  }
}

async function gather(name: string, stream: ReadableStream<Uint8Array>, job: Job): Promise<void> {
  const blob = await new Response(stream.pipeThrough(meter(job), { signal: job.signal })).blob()
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), PATIENCE)
}

/** Counts what passes, and holds it while the job is held. */
export function meter(job: Job): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async transform(bytes, controller) {
      await job.ready()
      controller.enqueue(bytes)
      job.wrote(bytes.length)
    },
  })
}

/** In milliseconds. */
const PATIENCE = 15_000

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
