// Pages in Chromium, for many tests: `node chromium.mjs PLAYWRIGHT CHROMIUM`. On standard input comes a job a line, as JSON, with an
// `id`; on standard output goes `{ id, wrong }` for each, in any order. It ends with its input.
//
// A job has the `root` of an unpacked repository, the file with its `expected` JSON, and whether the page is `isolated`; the rest is
// for `page.mjs`. With a `page`, that address below `root` is opened instead, and what it puts into `window.wrong` is the answer.

import { createServer } from 'node:http'
import { open, readFile, readdir, stat } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [playwright, executablePath] = process.argv.slice(2)
const { chromium } = await import(pathToFileURL(join(playwright, 'index.mjs')))
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.mjs': 'text/javascript', '.wasm': 'application/wasm' }
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
}
const PAGE = '<!doctype html><title>tests</title><link rel="icon" href="data:," />'
const TIMEOUT = 120_000

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** What addresses mean, by their first part; the rest is a path below it. */
const roots = new Map([
  ['portaborg', join(HERE, 'node_modules/portaborg')],
  ['scripts', HERE],
])
const servers = { plain: await serve({}), isolated: await serve(ISOLATION) }
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-sync']
const browser = await chromium.launch({ executablePath, headless: true, args: [...ARGUMENTS, '--disable-component-update'] })
const pages = {}
const complaints = []
const working = new Set()

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line)
  const done = work(job)
    .catch((error) => [`${error?.stack ?? error}`])
    .then((wrong) => {
      console.log(JSON.stringify({ id: job.id, wrong: [...complaints.splice(0), ...wrong] }))
      roots.delete(job.id)
      working.delete(done)
    })
  working.add(done)
}
await Promise.all(working)
await browser.close()
for (const { server } of Object.values(servers)) server.close()

async function work({ id, root, expected, isolated, page, ...rest }) {
  roots.set(id, root)
  const name = isolated ? 'isolated' : 'plain'
  const { address } = servers[name]
  if (page) {
    const opened = await openPage(`${address}/${id}/${page}`)
    await opened.waitForFunction('window.wrong', null, { timeout: TIMEOUT })
    const wrong = await opened.evaluate('window.wrong')
    await opened.close()
    return wrong
  }
  pages[name] ??= openPage(`${address}/`)
  const job = { repository: `${address}/${id}`, expected: JSON.parse(await readFile(expected, 'utf8')), ...rest }
  const opened = await pages[name]
  const wrong = await opened.evaluate(async (job) => (await import('/scripts/page.mjs')).work(job), job)
  if (isolated && !(await opened.evaluate('crossOriginIsolated'))) wrong.push('the page is not isolated')
  return wrong
}

async function openPage(address) {
  const page = await browser.newPage()
  page.on('pageerror', (error) => complaints.push(`in the page: ${error?.stack ?? error}`))
  await page.goto(address)
  return page
}

async function serve(headers) {
  const server = createServer(async (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    try {
      await answer(request, response)
    } catch (error) {
      response.writeHead(['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code) ? 404 : 500).end()
    }
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return { server, address: `http://127.0.0.1:${server.address().port}` }
}

async function answer(request, response) {
  const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname))
  if (path === '/') return response.writeHead(200, { 'Content-Type': 'text/html' }).end(PAGE)
  const [, first, ...rest] = path.split('/')
  const root = roots.get(first)
  if (!root) return response.writeHead(404).end()
  if (rest.at(-1) === 'portaborg-listing.json') {
    const files = await list(join(root, ...rest.slice(0, -1)))
    return response.writeHead(200).end(JSON.stringify({ files }))
  }
  const file = await open(join(root, ...rest))
  try {
    const { size } = await file.stat()
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const [start, end] = from === undefined ? [0, size] : [Number(from), Math.min(size, Number(to) + 1)]
    if (start > end || (from !== undefined && start === size)) return response.writeHead(416).end()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
    const type = TYPES[extname(path)] ?? 'application/octet-stream'
    response.writeHead(from === undefined ? 200 : 206, { 'Content-Type': type }).end(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

async function list(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  return Promise.all(files.map(async (file) => [file.slice(root.length + 1), (await stat(file)).size]))
}
