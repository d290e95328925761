// Web servers for the tests: the page with its headers, and repositories on servers of other origins.

import { createServer } from 'node:http'
import { readFile, readdir, stat } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
}

/** Serves the page. */
export function servePage(folder) {
  return listen(async (request, response) => {
    const file = await find(folder, request)
    if (!file) return response.writeHead(404).end()
    response.writeHead(200, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-cache',
    })
    response.end(await readFile(file))
  })
}

/** Serves a repository's folder with a listing: `cors` says whether other origins may read, `user` who may at all. */
export function serveRepository(folder, { cors = true, user, delay = 0 } = {}) {
  return listen(async (request, response) => {
    const headers = cors
      ? {
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Allow-Headers': 'Authorization, Range, Accept',
          'Access-Control-Expose-Headers': 'Content-Range',
        }
      : {}
    if (request.method === 'OPTIONS') return response.writeHead(204, headers).end()
    if (delay) await new Promise((wake) => setTimeout(wake, delay))
    if (user && request.headers.authorization !== `Basic ${Buffer.from(user).toString('base64')}`) {
      return response.writeHead(401, headers).end()
    }
    if (request.url === '/portaborg-listing.json') {
      response.writeHead(200, { ...headers, 'Content-Type': 'application/json' })
      return response.end(JSON.stringify({ files: await list(folder) }))
    }
    const file = await find(folder, request)
    if (!file) return response.writeHead(404, headers).end()
    const bytes = await readFile(file)
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    if (!range) return response.writeHead(200, headers).end(bytes)
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, bytes.length)]
    if (start >= bytes.length) return response.writeHead(416, headers).end()
    response.writeHead(206, { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}` })
    response.end(bytes.subarray(start, end))
  })
}

async function list(folder, prefix = '') {
  const found = []
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    const name = prefix ? `${prefix}/${entry.name}` : entry.name
    if (entry.isDirectory()) found.push(...(await list(folder, name)))
    else found.push([name, (await stat(join(folder, name))).size])
  }
  return found
}

async function find(folder, request) {
  const path = decodeURIComponent(new URL(request.url, 'http://x').pathname)
  const file = join(folder, normalize(path.endsWith('/') ? `${path}index.html` : path))
  if (!file.startsWith(folder)) return undefined
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() ? file : undefined
}

async function listen(handle) {
  const server = createServer((request, response) => handle(request, response).catch(() => response.destroy()))
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready))
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}
