// What callers do wrong, and sources of their own: `node mistakes.mjs REPOSITORY EXPECTED`. What is wrong is printed.

import { readFile, readdir } from 'node:fs/promises'
import * as portaborg from 'portaborg'

const { openRepository, sources } = portaborg
const [folder, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)
const source = await sources.directory(folder)
const open = (options) => openRepository(source, { passphrase, ...options })

await fails('a wrong passphrase', 'RefusedError', 'PassphraseWrong', () => open({ passphrase: 'x' }))
await fails('no passphrase', 'RefusedError', 'PassphraseWrong', () => openRepository(source))
await fails('another key', 'RefusedError', 'KeyfileMismatchError', () => open({ key: `BORG_KEY ${'ab'.repeat(32)}\nAAAA` }))
await fails('no key', 'RefusedError', 'KeyfileInvalidError', () => open({ key: 'hello' }))
await fails('a passphrase of another type', 'MisuseError', 'CommandError', () => open({ passphrase: 7 }))
await fails('no source', 'MisuseError', 'CommandError', () => openRepository({}))
const nowhere = await sources.directory(`${folder}/nowhere`)
await fails('no repository', 'UnsupportedError', 'Repository.InvalidRepository', () => openRepository(nowhere))
const failing = { list: () => source.list('keys'), read: () => Promise.reject(new Error('out of paper')) }
await fails('a failing source', 'SourceError', 'Error', () => openRepository(failing), /out of paper/)
const lying = { list: (prefix) => source.list(prefix), read: async () => new Uint8Array(1 << 20) }
await fails('a lying source', 'SourceError', 'Error', () => openRepository(lying), /more bytes/)

const repo = await open({ passphrase: new TextEncoder().encode(passphrase) })
await fails('no archive', 'MisuseError', 'Archive.DoesNotExist', () => repo.archive('nothing'))
await fails('several archives', 'MisuseError', 'CommandError', () => repo.archive('series'), /2 archives/)
const archive = await repo.archive(`aid:${archives[0].id}`)
await fails('no file', 'MisuseError', 'IncludePatternNeverMatchedWarning', () => text(archive.open('nothing')))
await fails('a folder', 'MisuseError', 'CommandError', () => text(archive.open('sub')))
await fails('a path of another type', 'MisuseError', 'CommandError', () => text(archive.open(7)))
await fails('a range', 'MisuseError', 'CommandError', () => text(archive.open('hello.txt', { range: { start: 3, end: 2 } })))
await fails('a pattern', 'MisuseError', 'CommandError', () => paths({ match: 're:(' }))
await fails('a folder above', 'MisuseError', 'CommandError', () => paths({ under: '../x' }))
await fails('a depth', 'MisuseError', 'CommandError', () => paths({ depth: -1 }))

same('under', await paths({ under: 'sub' }), archives[0].items.map(({ path }) => path).filter((path) => /^sub(\/|$)/.test(path)))
same('depth', await paths({ under: 'sub', depth: 0 }), ['sub'])
same('match', await paths({ match: ['*.txt', 'pp:sub/lines.txt'] }), ['hello.txt', 'sub/lines.txt', 'ünïcödé-日本.txt'])
same('expressions', await paths({ match: [/^hello/g, /LINES/i] }), ['hello.txt', 'sub/lines.txt'])
await fails('no folder', 'MisuseError', 'IncludePatternNeverMatchedWarning', () => archive.dir('nothing'))
await fails('a file for a folder', 'MisuseError', 'CommandError', () => archive.dir('hello.txt'))
await fails('an order', 'MisuseError', 'CommandError', () => archive.dir('', { sort: 'beauty' }))
const names = async (...args) => (await archive.dir(...args)).items.map(({ path }) => path)
same('dir', await names('sub'), ['sub/hello-link', 'sub/lines.txt', 'sub/random.bin', 'sub/zeros.bin'])
same('the largest', await names('sub', { sort: '-size', count: 2 }), ['sub/zeros.bin', 'sub/lines.txt'])
same('total', (await archive.dir('', { offset: 5, count: 1 })).total, archives[0].items.filter(({ path }) => !/[/]|^[.]$/.test(path)).length)
same('search', await hits(repo.search('LINES')), ['sub/lines.txt', 'sub/lines.txt'])
same('search with a limit', await hits(repo.search(/bin$/, { limit: 3 })), ['sub/random.bin', 'sub/zeros.bin', 'sub/random.bin'])
same('search in one', await hits(repo.search('lines', { archives: [archive] })), ['sub/lines.txt'])
const versions = []
for await (const { archive, item } of repo.versions('/sub/lines.txt')) versions.push([archive.id, item.size])
same('versions', versions, archives.map(({ id }) => [id, 5859]).reverse())

same('hello.txt', await text(archive.open('/hello.txt')), 'hello world\n')

// Sources of the caller's, with functions that can't be sent to a worker.
const asked = new Set()
const own = {
  list: (prefix) => (asked.add(`list ${prefix}`), source.list(prefix)),
  read: (name, offset, length) => (asked.add(`read ${name}`), source.read(name, offset, length)),
}
await works('a source of the caller', own)
if (!asked.has('list archives') || !asked.has('read config/config')) wrong(`asked for ${[...asked]}`)
const given = []
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = `${entry.parentPath ?? entry.path}/${entry.name}`
  const file = new File([await readFile(path)], entry.name)
  given.push(Object.defineProperty(file, 'webkitRelativePath', { value: `backup${path.slice(folder.length)}` }))
}
await works('files', await sources.files(given))
await fails('no files', 'MisuseError', 'Repository.InvalidRepository', () => sources.files([]))

await repo.close()
await fails('a closed repository', 'MisuseError', 'CommandError', () => repo.archive('x'), /closed/)

async function works(what, source) {
  const repo = await openRepository(source, { passphrase })
  const archive = await repo.archive(`aid:${archives[0].id}`)
  same(what, await text(archive.open('hello.txt')), 'hello world\n')
  await repo.close()
}

async function paths(options) {
  const found = []
  for await (const item of archive.items(options)) found.push(item.path)
  return found
}

async function hits(found) {
  const paths = []
  for await (const { item } of found) paths.push(item.path)
  return paths
}

async function text(stream) {
  return new Response(stream).text()
}

async function fails(what, name, code, run, message = /\w/) {
  try {
    await run()
    wrong(`${what}: nothing fails`)
  } catch (error) {
    const isOurs = error instanceof portaborg[name] && error instanceof portaborg.PortaborgError && error instanceof Error
    if (!isOurs || error.name !== name || error.code !== code || !message.test(error.message)) {
      wrong(`${what}: ${error?.stack} ${error?.code}`)
    }
  }
}

function same(what, found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) wrong(`${what} is ${a}, not ${b}`)
}
