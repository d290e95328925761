// Repositories on servers: `node http.mjs REPOSITORY EXPECTED`. What is wrong is printed.
//
// The servers are small ones of this test's: one as borgstore's (repository layer, section 1.7), and ones for a plain folder.

import { createHash } from 'node:crypto'
import { readFile, readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { SourceError, MisuseError, openRepository, sources } from 'portaborg'

const [folder, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)
const REST = 'application/vnd.x.borgstore.rest.v1'
const USER = `Basic ${Buffer.from('me:pässword/@').toString('base64')}`

const files = []
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name)
  if (entry.isFile()) files.push([path.slice(folder.length + 1), (await stat(path)).size])
}
/** What a server was asked for, and how often it failed before it answered. */
let asked = []
let failures = 0

await served(rest, async (url) => {
  await readsAll(await sources.http(url.replace('//', `//me:${encodeURIComponent('pässword/@')}@`)))
  await readsAll(await sources.http(`${url}/`, { headers: { Authorization: USER } }))
  const refused = await sources.http(url).catch((error) => error)
  if (!/401/.test(refused.message)) wrong(`without a password: ${refused}`)
  failures = 2
  await readsAll(await sources.http(url, { headers: { Authorization: USER } }))
})
for (const server of [plain, withoutRanges]) {
  await served(server, async (url) => {
    const source = await sources.http(url)
    await readsAll(source)
    if (source.stats.requests !== asked.length) wrong(`${source.stats.requests} requests counted, not ${asked.length}`)
    if (!(source.stats.bytes > 1000)) wrong(`${source.stats.bytes} bytes counted`)
  })
}
await served(nothing, async (url) => {
  const error = await sources.http(url).catch((error) => error)
  if (!(error instanceof MisuseError) || error.code !== 'Repository.DoesNotExist') wrong(`nothing there: ${error}`)
})
// A server that is gone is a failing source.
let gone
await served(plain, async (url) => (gone = await sources.http(url)))
const error = await openRepository(gone, { passphrase }).catch((error) => error)
if (!(error instanceof SourceError)) wrong(`gone: ${error}`)

async function readsAll(source) {
  const repo = await openRepository(source, { passphrase })
  for await (const archive of repo.archives()) {
    const { items } = archives.find(({ id }) => id === archive.id)
    let number = 0
    for await (const item of archive.items()) {
      const { path, sha256 } = items[number++]
      if (item.path !== path) wrong(`${item.path} instead of ${path}`)
      if (sha256 && (await hash(archive.open(item))) !== sha256) wrong(`${path} is different`)
    }
  }
  const report = await repo.verify({ data: true })
  if (!report.ok) wrong(JSON.stringify(report))
  await repo.close()
}

async function hash(stream) {
  const hash = createHash('sha256')
  for await (const piece of stream) hash.update(piece)
  return hash.digest('hex')
}

async function served(answer, use) {
  asked = []
  const server = createServer(async (request, response) => {
    asked.push(request.url)
    if (failures > 0) {
      failures -= 1
      return response.writeHead(503).end()
    }
    await answer(request, response)
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    await use(`http://127.0.0.1:${server.address().port}/backup`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function rest(request, response) {
  if (request.headers.authorization !== USER) return response.writeHead(401).end()
  if (request.headers.accept !== REST) return response.writeHead(406).end()
  const name = request.url.slice('/backup/'.length)
  if (!name.endsWith('/')) return file(name, request, response)
  const entries = await readdir(join(folder, name), { withFileTypes: true }).catch(() => null)
  if (!entries) return response.writeHead(404).end()
  const sizes = new Map(files)
  const listed = entries.map((entry) => ({
    name: entry.name,
    size: sizes.get(name + entry.name) ?? 0,
    directory: entry.isDirectory(),
    atime: 0,
    mtime: 0,
  }))
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(listed))
}

async function plain(request, response) {
  const name = request.url.slice('/backup/'.length)
  if (name === 'portaborg-listing.json') return response.writeHead(200).end(JSON.stringify({ files }))
  return file(name, request, response)
}

async function withoutRanges(request, response) {
  delete request.headers.range
  return plain(request, response)
}

/** A server that shows a page for whatever it does not have. */
async function nothing(_, response) {
  response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Welcome</h1>')
}

async function file(name, request, response) {
  const content = await readFile(join(folder, name)).catch(() => null)
  if (!content) return response.writeHead(404).end('not found')
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (!range) return response.writeHead(200).end(content)
  const [start, end] = [Number(range[1]), Number(range[2])]
  if (start >= content.length) return response.writeHead(416).end()
  response.writeHead(206).end(content.subarray(start, end + 1))
}
