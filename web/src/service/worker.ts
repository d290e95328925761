// The service worker: keeps the page's own files, so that it works without a network, and makes addresses for contents that the
// page reads: downloads that are written while they are read, and media of which the browser asks for parts.

/// <reference lib="webworker" />

import type { Ask, Head, Piece, Want } from './protocol'

declare const self: ServiceWorkerGlobalScope
/** Put before this file when it is built. */
declare const PRECACHE: { build: string; files: string[] }

const CACHE = `portaborg-${PRECACHE.build}`
const CONTENT = 'content/'
/** How long a window may take to say that it has a content, in milliseconds. */
const PATIENCE = 10_000

self.addEventListener('install', (event) => {
  const keep = async () => {
    const cache = await caches.open(CACHE)
    await cache.addAll(['./', ...PRECACHE.files.map((name) => `./${name}`), './build.json', './icon.svg', './site.webmanifest'])
    await self.skipWaiting()
  }
  event.waitUntil(keep())
})

self.addEventListener('activate', (event) => {
  const clean = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith('portaborg-') && name !== CACHE)
    await Promise.all(old.map((name) => caches.delete(name)))
    await self.clients.claim()
  }
  event.waitUntil(clean())
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  const { pathname: scope } = new URL(self.registration.scope)
  if (request.method !== 'GET' || url.origin !== self.location.origin || !url.pathname.startsWith(scope)) return
  const name = url.pathname.slice(scope.length)
  if (name.startsWith(CONTENT)) event.respondWith(content(name.slice(CONTENT.length), request))
  else if (request.mode === 'navigate') event.respondWith(page(request))
  else if (name.startsWith('assets/') || OTHERS.includes(name)) event.respondWith(kept(request))
})

const OTHERS = ['build.json', 'icon.svg', 'site.webmanifest']

/** The page as the server has it now; what is kept if there is no server. */
async function page(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch {
    return (await caches.match('./', { cacheName: CACHE })) ?? Response.error()
  }
}

/** Names of files change with what is in them, so what is kept is right. */
async function kept(request: Request): Promise<Response> {
  const found = await caches.match(request, { cacheName: CACHE, ignoreVary: true })
  return found ?? fetch(request)
}

/** What a window reads for an id that it has made. */
async function content(id: string, request: Request): Promise<Response> {
  const range = request.headers.get('Range')
  const found = await offered({ kind: 'want', id, ...(range && { range }) })
  if (!found) return new Response(null, { status: 404 })
  const { head, port } = found
  const body = head.headers.some(([name]) => name === 'X-No-Body') ? null : streamOf(port)
  return new Response(body, { status: head.status, headers: head.headers })
}

async function offered(want: Want): Promise<{ head: Head; port: MessagePort } | undefined> {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const asked = windows.map((window) => {
    const { port1, port2 } = new MessageChannel()
    const answer = new Promise<{ head: Head; port: MessagePort }>((resolve) => {
      port1.onmessage = ({ data }: MessageEvent<Head>) => resolve({ head: data, port: port1 })
    })
    window.postMessage(want, [port2])
    return answer
  })
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), PATIENCE))
  return Promise.race([...asked, late])
}

/** Asks for no more than is taken. */
function streamOf(port: MessagePort): ReadableStream<Uint8Array> {
  const say = (ask: Ask) => port.postMessage(ask)
  return new ReadableStream(
    {
      pull: (controller) =>
        new Promise<void>((resolve) => {
          port.onmessage = ({ data }: MessageEvent<Piece>) => {
            if (data.kind === 'piece') controller.enqueue(data.bytes)
            else if (data.kind === 'end') controller.close()
            else controller.error(new Error(data.message))
            resolve()
          }
          say({ kind: 'pull' })
        }),
      cancel: () => say({ kind: 'cancel' }),
    },
    { highWaterMark: 0 },
  )
}
