// Repositories on servers: `node http.mjs REPOSITORY EXPECTED`. What is wrong is printed. `BORGSTORE` is the program of the real
// borgstore server, if it is there.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MisuseError, SourceError, openRepository, sources } from 'portaborg'
import { Server, plain, proxy, rest, withoutRanges } from './server.mjs'

const [given, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)
const LISTING = 'portaborg-listing.json'
const NAME = 'me'
const PASSWORD = 'pässword/@'
/** The real server compares texts of ASCII only. */
const PLAIN_PASSWORD = 'pass word/@'
const USER = `Basic ${Buffer.from(`${NAME}:${PASSWORD}`).toString('base64')}`
const folder = join(tmpdir(), `portaborg-http.${process.pid}`)
await cp(given, folder, { recursive: true })

try {
  await protocol()
  await withoutGathering()
  if (process.env.BORGSTORE) await realServer(process.env.BORGSTORE)
  await list()
  await folders()
  await changes()
  await failures()
} finally {
  await rm(folder, { recursive: true })
}

async function protocol() {
  const server = new Server(rest(folder, USER))
  await server.run(async (url) => {
    await readsAll(await sources.http(withUser(url)))
    await readsAll(await sources.http(`${url}/`, { headers: { Authorization: USER } }))
    const refused = await sources.http(url).catch((error) => error)
    if (!/401/.test(refused.message)) wrong(`without a password: ${refused}`)
  })
  if (!server.asked.some((request) => request.includes('cmd=gather'))) wrong('nothing was gathered')
}

async function withoutGathering() {
  const server = new Server(rest(folder, USER, { gathers: false }))
  await server.run(async (url) => readsAll(await sources.http(withUser(url))))
  const tries = server.asked.filter((request) => request.includes('cmd=gather')).length
  if (tries !== 1) wrong(`${tries} tries to gather where that is unknown`)
}

/** The real borgstore server, through one of ours that counts. */
async function realServer(program) {
  const port = await freePort()
  const options = ['--host', '127.0.0.1', '--port', port, '--backend', `file://${folder}`]
  const child = spawn(program, [...options, '--username', NAME, '--password', PLAIN_PASSWORD], { stdio: 'ignore' })
  try {
    const server = new Server(proxy(`http://127.0.0.1:${port}`))
    await server.run(async (url) => {
      const source = await patiently(() => sources.http(withUser(url, PLAIN_PASSWORD)))
      await readsAll(source)
      const error = await sources.http(url).catch((error) => error)
      if (!/401/.test(error.message)) wrong(`the real server without a password: ${error}`)
      // Behind the end of a file there is nothing, and what is not there is null.
      const [end, none] = [await source.read('config/config', 1e6, 10), await source.read('config/nothing', 0, 10)]
      if (end?.length !== 0 || none !== null) wrong(`the real server: ${end}, ${none}`)
    })
    if (!server.asked.some((request) => request.includes('cmd=gather'))) wrong('the real server gathered nothing')
    if (server.most > 6) wrong(`${server.most} requests at once`)
  } finally {
    child.kill()
  }
}

async function folders() {
  for (const answer of [plain(folder), withoutRanges(folder)]) {
    const server = new Server(answer)
    await server.run(async (url) => {
      const source = await sources.http(url)
      await readsAll(source)
      const { requests, bytes } = source.stats
      if (requests !== server.asked.length) wrong(`${requests} requests counted, not ${server.asked.length}`)
      if (!(bytes > 1000 && bytes <= server.bytes)) wrong(`${bytes} bytes counted, of ${server.bytes}`)
    })
  }
  const nothing = (_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Welcome</h1>')
  await new Server(nothing).run(async (url) => {
    const error = await sources.http(url).catch((error) => error)
    if (!(error instanceof MisuseError) || error.code !== 'Repository.DoesNotExist') wrong(`nothing there: ${error}`)
    if (!/portaborg listing/.test(error.message)) wrong(error.message)
  })
}

/** A listing that does not fit any more. */
async function changes() {
  const server = new Server(plain(folder))
  await server.run(async (url) => {
    const repo = await openRepository(await sources.http(url), { passphrase })
    const archive = await repo.archive(`aid:${archives[0].id}`)
    await rename(join(folder, 'packs'), join(folder, 'moved'))
    server.asked = []
    const stale = await all(archive.open(fileOf(archives[0]))).catch((error) => error)
    if (!(stale instanceof SourceError) || !/portaborg listing/.test(stale.message)) wrong(`an old listing: ${stale}`)
    if (asks(server, LISTING) !== 1) wrong(`the listing was loaded ${asks(server, LISTING)} times: ${server.asked}`)
    // A listing that knows better: the pack is missing, which is the repository's fault.
    await list()
    const missing = await all(archive.open(fileOf(archives[0]))).catch((error) => error)
    if (missing.code !== 'Repository.PackNotFound') wrong(`a missing pack: ${missing.code} ${missing}`)
    await rename(join(folder, 'moved'), join(folder, 'packs'))
    await list()
    await repo.close()
    await readsAll(await sources.http(url))
  })
}

async function failures() {
  let left = 0
  const answer = plain(folder)
  const server = new Server((request, response) => {
    left -= 1
    if (left < 0) return answer(request, response)
    return left % 2 ? response.writeHead(503).end() : response.destroy()
  })
  let source
  await server.run(async (url) => {
    left = 3
    source = await sources.http(url)
    if (left >= 0) wrong(`${left + 1} failures were not tried again`)
    left = 1
    await readsAll(source)
    left = Infinity
    const signal = AbortSignal.timeout(50)
    const error = await sources.http(url, { signal }).catch((error) => error)
    if (error !== signal.reason) wrong(`aborted between two tries: ${error}`)
  })
  // A server that is gone is a failing source.
  const error = await openRepository(source, { passphrase }).catch((error) => error)
  if (!(error instanceof SourceError)) wrong(`gone: ${error}`)
}

async function readsAll(source) {
  const repo = await openRepository(source, { passphrase })
  for await (const archive of repo.archives()) {
    const { items } = archives.find(({ id }) => id === archive.id)
    let number = 0
    for await (const item of archive.items()) {
      const { path, sha256 } = items[number++]
      if (item.path !== path) wrong(`${item.path} instead of ${path}`)
      if (sha256 && hash(await all(archive.open(item))) !== sha256) wrong(`${path} is different`)
    }
  }
  const report = await repo.verify({ data: true })
  if (!report.ok) wrong(JSON.stringify(report))
  await repo.close()
}

function fileOf({ items }) {
  return items.find(({ path }) => path.endsWith('random.bin')).path
}

async function all(stream) {
  const pieces = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

function hash(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What `portaborg listing` writes. */
async function list() {
  await writeFile(join(folder, LISTING), JSON.stringify({ files: await files() }))
}

async function files() {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  const sizes = await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), (await stat(path)).size]))
  return sizes.filter(([name]) => name.includes('/') && !name.startsWith('moved/'))
}

function asks(server, name) {
  return server.asked.filter((request) => request.endsWith(`/${name}`)).length
}

function withUser(url, password = PASSWORD) {
  return url.replace('//', `//${NAME}:${encodeURIComponent(password)}@`)
}

async function freePort() {
  const server = createServer()
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address()
  await new Promise((closed) => server.close(closed))
  return String(port)
}

/** Until the other program has started. */
async function patiently(call) {
  for (let left = 30; ; left -= 1) {
    try {
      return await call()
    } catch (error) {
      if (left === 0) throw error
      await new Promise((wake) => setTimeout(wake, 200))
    }
  }
}
