// Small servers on the loopback: for a folder as it is, and for borgstore's protocol as far as readers use it (repository layer,
// section 1.7).

import { open, readFile, readdir, stat } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import { join } from 'node:path'

export const REST = 'application/vnd.x.borgstore.rest.v1'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** A server while `use` runs: what it was asked for, how much of that at once, and for how many bytes. */
export class Server {
  asked = []
  bytes = 0
  most = 0
  #now = 0

  /** Each answer is late by `delay` milliseconds. */
  constructor(answer, delay = 0) {
    this.answer = answer
    this.delay = delay
  }

  async run(use) {
    const server = createServer(async (request, response) => {
      this.asked.push(`${request.method} ${request.url}`)
      this.#now += 1
      this.most = Math.max(this.most, this.#now)
      response.on('close', () => (this.#now -= 1))
      const send = response.end.bind(response)
      response.end = (body) => {
        this.bytes += body?.length ?? 0
        return send(body)
      }
      if (this.delay > 0) await new Promise((wake) => setTimeout(wake, this.delay))
      await this.answer(request, response)
    })
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
    try {
      return await use(`http://127.0.0.1:${server.address().port}/backup`)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A folder as it is. */
export function plain(folder) {
  return (request, response) => file(folder, nameOf(request), request, response)
}

/** The same, of a server that knows no ranges. */
export function withoutRanges(folder) {
  return (request, response) => {
    delete request.headers.range
    return file(folder, nameOf(request), request, response)
  }
}

/** A server of borgstore's protocol, for one user. With `gathers` it knows how to gather. */
export function rest(folder, user, { gathers = true } = {}) {
  return async (request, response) => {
    if (request.headers.authorization !== user) return response.writeHead(401).end()
    if (request.headers.accept !== REST) return response.writeHead(406).end()
    const name = nameOf(request)
    if (request.method === 'POST') return gathers ? gather(folder, request, response) : response.writeHead(400).end()
    if (!name.endsWith('/')) return file(folder, name, request, response)
    const entries = await readdir(join(folder, name), { withFileTypes: true }).catch(() => null)
    if (!entries) return response.writeHead(404).end()
    const listed = entries.map(async (entry) => {
      const { size } = await stat(join(folder, name, entry.name))
      return { name: entry.name, size, directory: entry.isDirectory(), atime: 0, mtime: 0 }
    })
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(await Promise.all(listed)))
  }
}

/** Hands everything on to another server. */
export function proxy(url) {
  const agent = new Agent({ keepAlive: true })
  return async (incoming, response) => {
    const body = []
    for await (const piece of incoming) body.push(piece)
    const { method, headers } = incoming
    const options = { method, agent, headers: { ...headers, connection: 'keep-alive' } }
    const outgoing = request(`${url}/${nameOf(incoming)}`, options, async (answer) => {
      const pieces = []
      for await (const piece of answer) pieces.push(piece)
      response.writeHead(answer.statusCode, answer.headers).end(Buffer.concat(pieces))
    })
    outgoing.on('error', () => response.writeHead(502).end())
    outgoing.end(Buffer.concat(body))
  }
}

async function gather(folder, request, response) {
  let body = ''
  for await (const piece of request) body += piece
  const pieces = []
  for (const [name, offset, length] of JSON.parse(body)) {
    const bytes = await part(join(folder, name), offset, length)
    if (!bytes) return response.writeHead(404).end()
    if (bytes.length < length) return response.writeHead(416).end()
    pieces.push(bytes)
  }
  response.writeHead(200).end(Buffer.concat(pieces))
}

async function file(folder, name, request, response) {
  const path = join(folder, name)
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (!range) {
    const content = await readFile(path).catch(() => null)
    return content ? response.writeHead(200).end(content) : response.writeHead(404).end('not found')
  }
  const [start, end] = [Number(range[1]), Number(range[2])]
  const bytes = await part(path, start, end - start + 1)
  if (!bytes) return response.writeHead(404).end('not found')
  if (bytes.length === 0) return response.writeHead(416).end()
  response.writeHead(206).end(bytes)
}

/** A part of a file, or of what there is of it; null without the file. */
async function part(path, offset, length) {
  const file = await open(path).catch(() => null)
  if (!file) return null
  try {
    const { size } = await file.stat()
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)))
    await file.read(bytes, 0, bytes.length, offset)
    return bytes
  } finally {
    await file.close()
  }
}

function nameOf(request) {
  return request.url.slice('/backup/'.length)
}
