// Writing a repository: `node write.mjs make|compare|remove REPOSITORY WISHES [FOLDER]`. The result of `make` is JSON on
// standard output; else, what is wrong is printed.

import { createReadStream } from 'node:fs'
import { lstat, readFile, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openRepository, sources } from 'portaborg'
import { createRepository, openForWriting, writers } from 'portaborg/write'

const [what, folder, wishes, tree] = process.argv.slice(2)
const { passphrase, encryption, idHash, compressions, chunkerParams } = JSON.parse(wishes)

/** All that is in a folder, as entries: contents as streams of Node, of the web, or as bytes. */
async function* entries(root, path) {
  const full = join(root, path)
  const stat = await lstat(full, { bigint: true })
  const entry = { path, mode: Number(stat.mode), uid: Number(stat.uid), gid: Number(stat.gid), mtimeNs: stat.mtimeNs }
  if (stat.isSymbolicLink()) entry.target = await readlink(full)
  if (stat.isFile()) {
    const kinds = [() => createReadStream(full), () => Readable.toWeb(createReadStream(full)), () => readFile(full)]
    entry.content = await kinds[Number(stat.size) % kinds.length]()
  }
  yield entry
  if (!stat.isDirectory()) return
  for (const name of (await readdir(full)).sort()) yield* entries(root, `${path}/${name}`)
}

const comment = (compression) => `by ${compression ?? 'default'}`

async function make() {
  const store = await writers.directory(folder)
  const repo = await createRepository(store, { passphrase, encryption, idHash, compression: 'zstd,3' })
  const made = []
  for (const compression of compressions) {
    const options = { compression, chunkerParams, comment: comment(compression), tags: ['b', 'a'], time: new Date('2026-01-02T03:04:05Z') }
    made.push(await repo.create('script', entries(tree, 'src'), options))
  }
  await repo.close()
  console.log(JSON.stringify(made))
}

/** All archives have the same files in the same chunks. */
async function compare() {
  const repo = await openRepository(await sources.directory(folder), { passphrase })
  let first
  let archives = 0
  for await (const archive of repo.archives()) {
    const files = new Map()
    for await (const item of archive.items()) {
      if (item.type === 'file') files.set(item.path, JSON.stringify(item.chunks))
    }
    first ??= files
    archives += 1
    for (const [path, chunks] of files) {
      if (first.get(path) !== chunks) console.log(`${archive.name} ${archive.id}: ${path}: other chunks`)
    }
    if (files.size !== first.size || files.size < 4) console.log(`${archive.id}: ${files.size} files, not ${first.size}`)
  }
  if (archives < 2) console.log(`only ${archives} archives`)
  await repo.close()
}

/** Only the first archive stays. */
async function remove() {
  const repo = await openForWriting(await writers.directory(folder), { passphrase })
  const reader = await openRepository(await sources.directory(folder), { passphrase })
  const others = []
  let kept
  for await (const archive of reader.archives()) {
    if (archive.comment === comment(compressions[0])) kept = archive
    else others.push(archive)
  }
  await reader.close()
  const deleted = await repo.delete(others)
  if (deleted.length !== others.length || others.length < 1) console.log(`deleted ${deleted.length} of ${others.length}`)
  const done = await repo.compact({ threshold: 0 })
  if (done.problems.length > 0) console.log(`compaction: ${done.problems}`)
  await repo.close()
  const after = await openRepository(await sources.directory(folder), { passphrase })
  const report = await after.verify({ data: true })
  if (!report.ok) console.log(JSON.stringify(report))
  for await (const archive of after.archives()) {
    if (archive.id !== kept.id) console.log(`${archive.id} is still there`)
  }
  for await (const archive of after.archives({ deleted: true })) console.log(`${archive.id} can still come back`)
  await after.close()
}

await { make, compare, remove }[what]()
