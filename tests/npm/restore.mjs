// Many files at once, and tar and zip files of them: `node restore.mjs REPOSITORY EXPECTED`. What is wrong is printed.
// `tar` unpacks the tar file; the zip file is read here, by its directory, with zlib.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstat, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { openRepository, sources } from 'portaborg'

const [folder, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)
const repo = await openRepository(await sources.directory(folder), { passphrase })
const scratch = await mkdtemp(join(tmpdir(), 'portaborg-restore-'))

for (const { id, items } of archives) {
  const archive = await repo.archive(`aid:${id}`)
  const facts = new Map(items.map((item) => [Buffer.from(item.path.hex ?? item.path, item.path.hex ? 'hex' : 'utf8').toString('hex'), item]))
  const tared = items.filter(({ mode }) => (Number(mode) & 0o170000) !== 0o140000)

  const seen = []
  const done = await archive.restore({
    sink: {
      item(item) {
        const hash = createHash('sha256')
        const wanted = facts.get(Buffer.from(item.pathBytes).toString('hex'))
        seen.push(wanted)
        if (!item.chunks) return
        const close = () => same(`restored ${item.path}`, hash.digest('hex'), wanted.sha256)
        return new WritableStream({ write: (piece) => void hash.update(piece), close })
      },
    },
  })
  same('restored items', seen, items)
  same('restored', done, { items: items.length, bytes: items.reduce((sum, { size }) => sum + (size ?? 0), 0) })

  const file = join(scratch, `${id}.tar`)
  const target = await mkdtemp(join(scratch, 'tar-'))
  await writeFile(file, archive.tar())
  execFileSync('tar', ['--warning=no-timestamp', '--no-same-owner', '--delay-directory-restore', '-xpf', file, '-C', target])
  for (const { path, mode, mtime_ns, target: link, sha256 } of tared) {
    const type = Number(mode) & 0o170000
    if (path.hex || path === '.' || type === 0o020000 || type === 0o060000) continue
    const at = join(target, path)
    const stat = await lstat(at, { bigint: true })
    same(`tar ${path}: mode`, Number(stat.mode), Number(mode))
    if (type === 0o100000) same(`tar ${path}: time`, String(stat.mtimeNs), mtime_ns)
    if (type === 0o120000 && !link.hex) same(`tar ${path}: target`, await readlink(at), link)
    if (sha256) same(`tar ${path}`, hashOf(await readFile(at)), sha256)
  }

  const zipped = unzip(Buffer.from(await new Response(archive.zip()).arrayBuffer()))
  const wanted = items.filter(({ path, mode }) => path !== '.' && [0o100000, 0o040000, 0o120000].includes(Number(mode) & 0o170000))
  same('zip entries', zipped.length, wanted.length)
  wanted.forEach(({ path, mode, sha256, target: link }, number) => {
    const { name, content, attributes } = zipped[number]
    const slash = (Number(mode) & 0o170000) === 0o040000 ? '/' : ''
    if (isPlain(path)) same('zip name', name, path + slash)
    same(`zip ${name}: mode`, attributes >>> 16, Number(mode))
    if (sha256) same(`zip ${name}`, hashOf(content), sha256)
    if (link && !link.hex) same(`zip ${name}: target`, content.toString(), link)
  })
}

// A part of an archive, and a consumer that has enough.
const archive = await repo.archive(`aid:${archives[0].id}`)
const some = []
await archive.restore({ paths: ['sub', 'hello.txt'], sink: { item: ({ path }) => void some.push(path) } })
same('paths', some, archives[0].items.map(({ path }) => path).filter((path) => path === 'hello.txt' || /^sub(\/|$)/.test(path)))
const reader = archive.tar().getReader()
await reader.read()
await reader.cancel()
await repo.close()
await rm(scratch, { recursive: true, force: true })

/** A name that every system takes. */
function isPlain(path) {
  return typeof path === 'string' && !/[\\:*?"<>|\x00-\x1f\x7f]|[. ](\/|$)|(^|\/)(con|nul|aux)\b/i.test(path)
}

function unzip(zip) {
  const end = zip.length - 22
  same('end of the zip file', zip.readUInt32LE(end), 0x06054b50)
  const entries = []
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    same('entry', zip.readUInt32LE(at), 0x02014b50)
    const [crc, packed, size] = [16, 20, 24].map((field) => zip.readUInt32LE(at + field))
    const [nameLength, extraLength] = [28, 30].map((field) => zip.readUInt16LE(at + field))
    const [attributes, offset] = [38, 42].map((field) => zip.readUInt32LE(at + field))
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    same(`${name}: its header`, zip.readUInt32LE(offset), 0x04034b50)
    const start = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28)
    const content = zlib.inflateRawSync(zip.subarray(start, start + packed))
    same(`${name}: size`, content.length, size)
    if (zlib.crc32) same(`${name}: checksum`, zlib.crc32(content), crc)
    same(`${name}: sizes behind it`, [4, 8, 12].map((field) => zip.readUInt32LE(start + packed + field)), [crc, packed, size])
    entries.push({ name, content, attributes })
    at += 46 + nameLength + extraLength
  }
  return entries
}

function hashOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

function same(what, found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) wrong(`${what} is ${a}, not ${b}`)
}
