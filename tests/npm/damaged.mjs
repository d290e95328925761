// A damaged or forged repository: `node damaged.mjs REPOSITORY EXPECTED [KEY]`. Whatever is wrong with it is an error of the
// package with a code; what comes out without an error is what was backed up. What is wrong is printed, a line each.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { PortaborgError, openRepository, sources } from 'portaborg'

const [folder, expectedFile, keyFile] = process.argv.slice(2)
const expected = JSON.parse(await readFile(expectedFile, 'utf8'))
const key = keyFile && (await readFile(keyFile, 'utf8'))
const wrong = (text) => console.log(text)
const intact = new Map()
for (const { id, items } of Object.values(expected.intact_archives ?? {})) {
  intact.set(id, new Map(items.map((item) => [item.path, item])))
}
/** Damage of which reading says nothing, with the reason. */
const SILENT = {
  'defaults-evil': 'defaults are for those who write',
  'lock-other-host': 'nothing is locked for reading',
  'lock-unreadable': 'nothing is locked for reading',
  'path-odd': 'the paths can be listed, though no file system has them',
  'symlink-escape': 'nothing is written',
}
/** Files with another content than was backed up, of which only a verification tells: their writer had the keys. */
const FORGED = { 'id-mismatch': 'b.txt' }
/** What was complained of. */
let complaints = 0

const repo = await attempt('open', async () => {
  return openRepository(await sources.directory(folder), { passphrase: expected.passphrase, key })
})
if (repo) {
  complaints += repo.warnings.length
  for await (const archive of repo.archives()) await contents(archive)
  const report = await attempt('verify', () => repo.verify({ data: true }))
  if (report && !report.ok) complaints += 1
  if (report) told(report)
  await repo.close()
}
const isGood = expected.borg_2_0_0b25_reaction.every(({ exit_code }) => exit_code === 0)
if (complaints === 0 && !isGood && !SILENT[expected.fixture]) wrong('nothing was complained of')

/** What the real client's check finds, the report tells. */
function told(report) {
  const check = expected.borg_2_0_0b25_reaction.find(({ command }) => command.startsWith('borg check'))
  if (check && check.exit_code !== 0 && report.ok && repo.warnings.length === 0) {
    wrong(`the real client's check ends with ${check.exit_code}, the report is good`)
  }
}

async function contents(archive) {
  if (archive.problem) good(`${archive.id}`, archive.problem)
  const before = intact.get(archive.id)
  let missing = new Set(before?.keys())
  const complained = complaints
  await attempt(`${archive.id}: items`, async () => {
    for await (const item of archive.items({ onProblem: (problem) => good(archive.id, problem) })) {
      missing.delete(item.path)
      if (!item.chunks) continue
      const hash = await attempt(`${archive.id}: ${item.path}`, () => content(archive.open(item)))
      const facts = before?.get(item.path)
      const isForged = FORGED[expected.fixture] === item.path
      if (hash && facts?.sha256 && hash !== facts.sha256 && !isForged) wrong(`${archive.name}: ${item.path} has another content`)
    }
  })
  if (missing.size > 0 && complaints === complained && !archive.problem) {
    wrong(`${archive.name}: ${[...missing]} missing, and nothing was said`)
  }
  await restore(archive, before)
  await attempt(`${archive.id}: damage`, async () => {
    for await (const { problem, parts } of archive.damage()) {
      good(archive.id, problem)
      for (const part of parts) good(archive.id, part.problem)
    }
  })
}

/** All at once: what can't be had is zeros, and told. */
async function restore(archive, before) {
  const broken = new Set()
  const onProblem = (problem, item) => {
    good(archive.id, problem)
    if (item) broken.add(item.path)
  }
  const item = (item) => {
    if (!item.chunks) return
    const hash = createHash('sha256')
    let length = 0
    const write = (piece) => {
      hash.update(piece)
      length += piece.length
    }
    const close = () => {
      if (length !== item.size) wrong(`${archive.name}: ${item.path} is restored with ${length} bytes`)
      const { sha256 } = before?.get(item.path) ?? {}
      const isRight = !sha256 || hash.digest('hex') === sha256
      if (!isRight && !broken.has(item.path) && FORGED[expected.fixture] !== item.path) {
        wrong(`${archive.name}: ${item.path} is restored with another content`)
      }
    }
    return new WritableStream({ write, close })
  }
  await attempt(`${archive.id}: restore`, () => archive.restore({ sink: { item }, onProblem }))
}

/** What comes of it; undefined after an error, which must be one of the package's. */
async function attempt(what, run) {
  try {
    return await run()
  } catch (error) {
    good(what, error)
  }
}

function good(what, error) {
  complaints += 1
  const isGood = error instanceof PortaborgError && error.code && error.code !== 'Exception' && error.message
  if (!isGood) wrong(`${what}: ${error?.stack ?? error} (${error?.code})`)
}

async function content(stream) {
  const hash = createHash('sha256')
  for await (const piece of stream) hash.update(piece)
  return hash.digest('hex')
}
