// The page's side of the service worker.

import { signal } from '@preact/signals'
import type { Ask, Head, Piece, Want } from './protocol'
import { CONTENT } from './protocol'

/** Whether the page would come without a network. */
export const worksOffline = signal(false)

/** What can be read at an address. */
export interface Content {
  /** Length in bytes, if it is known; parts can be asked for then. */
  readonly size?: number
  readonly headers: [string, string][]
  open(range: { start: number; end: number } | undefined): ReadableStream<Uint8Array>
  /** Told when all was taken, or when the browser gave up. */
  onEnd?(error?: unknown): void
}

/** Starts the service worker; without one (`file:`, private windows of some browsers) the page works all the same. */
export async function keepOffline(): Promise<void> {
  const { serviceWorker } = navigator
  if (!serviceWorker || import.meta.env.DEV) return
  serviceWorker.addEventListener('message', (event: MessageEvent<Want>) => {
    const [port] = event.ports
    if (event.data?.kind === 'want' && port) void answer(event.data, port)
  })
  try {
    await serviceWorker.register('./service.js')
    await serviceWorker.ready
    worksOffline.value = true
  } catch {
    // where it is forbidden, downloads take another way
  }
}

/** Whether contents can be given addresses now. */
export function hasAddresses(): boolean {
  return Boolean(navigator.serviceWorker?.controller)
}

/** Makes an address for a content, which only this page knows. `revoke` takes it back. */
export function address(content: Content): { url: string; revoke: () => void } {
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  contents.set(id, content)
  return { url: new URL(CONTENT + id, document.baseURI).href, revoke: () => contents.delete(id) }
}

const contents = new Map<string, Content>()

async function answer({ id, range }: Want, port: MessagePort): Promise<void> {
  const content = contents.get(id)
  if (!content) return // it is another window's
  const say = (message: Head | Piece, transfer: Transferable[] = []) => port.postMessage(message, transfer)
  const { size } = content
  const wanted = size === undefined ? undefined : rangeOf(range, size)
  if (wanted === 'unsatisfiable') {
    return say({ kind: 'head', status: 416, headers: [['Content-Range', `bytes */${size}`], ['X-No-Body', '1']] })
  }
  const headers = [...content.headers, ...SAFE]
  if (size !== undefined) {
    const { start, end } = wanted ?? { start: 0, end: size }
    headers.push(['Accept-Ranges', 'bytes'], ['Content-Length', String(end - start)])
    if (wanted) headers.push(['Content-Range', `bytes ${start}-${end - 1}/${size}`])
  }
  say({ kind: 'head', status: wanted ? 206 : 200, headers })
  const reader = content.open(wanted).getReader()
  port.onmessage = async ({ data }: MessageEvent<Ask>) => {
    if (data.kind === 'cancel') {
      void reader.cancel().catch(() => {})
      return content.onEnd?.(new DOMException('The browser stopped the download.', 'AbortError'))
    }
    try {
      const { done, value } = await reader.read()
      if (done) {
        say({ kind: 'end' })
        content.onEnd?.()
      } else {
        // What is a part of something longer can't be handed over.
        const bytes = value.byteLength === value.buffer.byteLength ? value : value.slice()
        say({ kind: 'piece', bytes }, [bytes.buffer])
      }
    } catch (error) {
      say({ kind: 'error', message: String(error) })
      content.onEnd?.(error)
    }
  }
}

/** Nothing at such an address is ever a page that could do something. */
const SAFE: [string, string][] = [
  ['Content-Security-Policy', "sandbox; default-src 'none'"],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
]

/** What a Range header asks for; undefined for all, or what makes no sense. */
function rangeOf(header: string | undefined, size: number): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') return Number(last) === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size }
  const start = Number(first)
  const end = last === '' ? size : Math.min(size, Number(last) + 1)
  return start < end ? { start, end } : 'unsatisfiable'
}
