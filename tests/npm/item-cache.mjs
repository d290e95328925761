// The item cache: what comes out is the same with it, without it, and whatever lies in its place:
// `node item-cache.mjs REPOSITORY EXPECTED`. What is wrong is printed.

import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRepository, sources } from 'portaborg'

const [folder, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)
const scratch = await mkdtemp(join(tmpdir(), 'portaborg-item-cache-'))
const itemCache = join(scratch, 'items')
const text = (item) => JSON.stringify(item)

const right = await told(false)
same('files without a cache', await files(), [])
for (const time of ['first', 'second', 'third']) same(`the ${time} time`, await told(itemCache), right)
const names = await files()
same('files', names.length, archives.length)
for (const { id } of archives) if (!names.some((name) => name.endsWith(id))) wrong(`${id} is not kept`)
const contents = new Map()
for (const name of names) contents.set(name, await readFile(join(itemCache, name)))
for (const [name, content] of contents) {
  if (content.includes('home') || content.includes('user')) wrong(`${name} can be read`)
}

// A use shows.
for (const name of names) await utimes(join(itemCache, name), 1000, 1000)
same('aged', await told(itemCache), right)
for (const name of names) if ((await stat(join(itemCache, name))).mtimeMs < 1e9) wrong(`${name} was not used`)
for (const name of names) if (!(await readFile(join(itemCache, name))).equals(contents.get(name))) wrong(`${name} was made anew`)

// Whatever lies in its place does nothing, and goes.
const [first, second] = names
const good = contents.get(first)
const flipped = (at) => good.map((byte, index) => (index === at ? byte ^ 1 : byte))
const bad = [0, 8, 12, 44, good.length - 1].map(flipped)
bad.push(...[0, 1, 44, 60, good.length - 1].map((length) => good.subarray(0, length)))
bad.push(contents.get(second), Buffer.concat([good, good]), Buffer.alloc(1 << 20))
for (const [number, content] of bad.entries()) {
  await writeFile(join(itemCache, first), content)
  same(`bad file ${number}`, await told(itemCache), right)
  if ((await readFile(join(itemCache, first))).equals(content)) wrong(`bad file ${number} stays`)
}

// Where nothing can be kept, nothing is.
await rm(itemCache, { recursive: true })
await writeFile(itemCache, 'a file')
same('no folder', await told(itemCache), right)
await rename(itemCache, join(scratch, 'moved'))

// Who goes before the end leaves nothing behind.
const repo = await openRepository(await sources.directory(folder), { passphrase, itemCache })
const archive = await repo.archive(`aid:${archives[0].id}`)
for await (const _ of archive.items()) break
const left = async () => (await files()).filter((name) => name.endsWith('.tmp'))
for (let tries = 0; (await left()).length > 0 && tries < 200; tries++) await new Promise((wake) => setTimeout(wake, 10))
await repo.close()
same('left', await left(), [])
for (const option of [7, true, new URL('file:///x')]) {
  const mistake = await openRepository(await sources.directory(folder), { passphrase, itemCache: option }).catch((error) => error)
  same(`itemCache: ${option}`, [mistake.name, mistake.object], ['MisuseError', 'itemCache'])
}
await rm(scratch, { recursive: true })

/** Everything that items are asked for by. */
async function told(itemCache) {
  const repo = await openRepository(await sources.directory(folder), { passphrase, itemCache })
  const lines = []
  for (const { id } of archives) {
    const archive = await repo.archive(`aid:${id}`)
    for await (const item of archive.items()) lines.push(text(item))
    const { items, total } = await archive.dir('', { sort: '-size' })
    lines.push(total, ...items.map(text))
    for await (const item of archive.items({ match: '**/*.txt' })) lines.push(text(item))
    await archive.restore({ sink: { item: (item) => void lines.push(text(item)) } })
  }
  for await (const { archive, item } of repo.search('a')) lines.push(archive.id, text(item))
  await repo.close()
  return lines
}

async function files() {
  return (await readdir(itemCache).catch(() => [])).sort()
}

function same(what, found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) wrong(`${what} is ${a.slice(0, 300)}, not ${b.slice(0, 300)}`)
}
