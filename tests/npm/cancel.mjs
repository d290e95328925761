// Calls that are given up at any time: `node cancel.mjs REPOSITORY EXPECTED`. What is wrong is printed. The repository is not
// closed: that must not keep Node from ending.

import { readFile } from 'node:fs/promises'
import { openRepository, sources } from 'portaborg'

const [folder, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)
const id = `aid:${archives[0].id}`
const directory = await sources.directory(folder)

/** Reads wait while this is a promise. */
let gate = null
let reads = 0
const slow = {
  list: (prefix) => directory.list(prefix),
  read: async (...args) => {
    reads += 1
    await gate
    return directory.read(...args)
  },
}
const { gone, signal: aborted } = before()

const repo = await openRepository(slow, { passphrase })
const archive = await repo.archive(id)
await aborts('open', () => openRepository(slow, { passphrase, signal: aborted }))
await aborts('archive', () => repo.archive(id, { signal: aborted }))
await aborts('archives', () => all(repo.archives({ signal: aborted })))
await aborts('items', () => all(archive.items({ signal: aborted })))
await aborts('content', () => all(archive.open('hello.txt', { signal: aborted })))
await aborts('damage', () => all(archive.damage({ signal: aborted })))
await aborts('verify', () => repo.verify({ signal: aborted }))

// While reads are on their way: the call ends at once, and another one works.
const calls = {
  archive: (signal) => repo.archive(id, { signal }),
  items: (signal) => all(archive.items({ signal })),
  content: (signal) => all(archive.open('sub/lines.txt', { signal })),
  damage: (signal) => all(archive.damage({ signal })),
  verify: (signal) => repo.verify({ data: true, signal }),
  open: (signal) => openRepository(slow, { passphrase, signal }),
}
for (const [what, call] of Object.entries(calls)) {
  const controller = new AbortController()
  let release
  gate = new Promise((wake) => (release = wake))
  const began = reads
  const ended = aborts(`${what} on its way`, () => call(controller.signal))
  while (reads === began) await new Promise((wake) => setTimeout(wake, 1))
  controller.abort(gone)
  await ended
  release()
  gate = null
}

// A consumer that has enough.
for await (const item of archive.items()) if (item.path) break
const stream = archive.open('sub/zeros.bin')
const reader = stream.getReader()
const { value } = await reader.read()
if (!(value.length > 0)) wrong('no bytes')
await reader.cancel()

// Many at once, and all of them whole.
const lengths = await Promise.all(Array.from({ length: 20 }, () => length(archive.open('sub/zeros.bin'))))
if (lengths.some((length) => length !== 50000)) wrong(`lengths: ${lengths}`)

// What is on its way when the repository is closed ends, too.
const other = await openRepository(slow, { passphrase })
gate = new Promise(() => {})
const left = other.verify().then(
  () => wrong('a closed repository was verified'),
  (error) => error.code === 'CommandError' || wrong(`closed: ${error}`),
)
await other.close()
await left
gate = null

function before() {
  const gone = new Error('gone')
  return { gone, signal: AbortSignal.abort(gone) }
}

async function aborts(what, run) {
  try {
    await run()
    wrong(`${what}: was not aborted`)
  } catch (error) {
    if (error !== gone) wrong(`${what}: ${error?.stack}`)
  }
}

async function all(results) {
  for await (const _ of results);
}

async function length(stream) {
  let length = 0
  for await (const piece of stream) length += piece.length
  return length
}
