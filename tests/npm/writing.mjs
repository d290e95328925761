// Writing into memory, and what goes wrong there. What is wrong is printed.

import { openRepository } from 'portaborg'
import { MisuseError, RefusedError, SourceError, createRepository, openForWriting, writers } from 'portaborg/write'

const check = (right, text) => right || console.log(text)
async function fails(promise, kind, code, part = '') {
  try {
    await promise
    console.log(`${kind.name} ${code} did not come`)
  } catch (error) {
    const right = error instanceof kind && (code === undefined || error.code === code) && error.message.includes(part)
    if (!right) console.log(`${kind.name} ${code}: ${error.name} ${error.code}: ${error.message}`)
  }
}

const text = new TextEncoder()
const passphrase = 'mémoire'
const store = await writers.memory()
const repo = await createRepository(store, { passphrase, encryption: 'chacha20-poly1305', idHash: 'blake3' })
check(repo.encryption === 'chacha20-poly1305' && repo.idHash === 'blake3' && repo.id.length === 64, 'facts')
await fails(createRepository(store, { encryption: 'aes256-ocb' }), MisuseError, 'Repository.AlreadyExists')
await fails(openForWriting(store, { passphrase: 'wrong' }), RefusedError, 'PassphraseWrong')
await fails(createRepository(await writers.memory(), { encryption: 'rot13' }), MisuseError, 'CommandError')

const noise = crypto.getRandomValues(new Uint8Array(60_000))
async function* pieces() {
  for (let number = 0; number < 100; number += 1) yield noise.subarray(number * 7, number * 7 + 50_000)
}
async function all(parts) {
  const gathered = []
  for await (const part of parts) gathered.push(part)
  return gathered
}
const contents = {
  'd/bytes': () => noise,
  'd/blob': () => new Blob([noise, 'and text']),
  'd/stream': () => new Blob([noise]).stream(),
  'd/pieces': () => pieces(),
  'd/text': () => 'grün',
  'd/empty': () => undefined,
}
const wanted = {
  'd/bytes': noise,
  'd/blob': new Uint8Array(await new Blob([noise, 'and text']).arrayBuffer()),
  'd/stream': noise,
  'd/pieces': Buffer.concat(await all(pieces())),
  'd/text': text.encode('grün'),
  'd/empty': new Uint8Array(0),
}
function* entries() {
  yield { path: '/d', type: 'directory', mtimeNs: 5n, user: 'me', uid: 7 }
  for (const [path, content] of Object.entries(contents)) yield { path, content: content(), mtimeNs: 1_700_000_000_123_456_789n }
  yield { path: 'd/link', type: 'symlink', target: 'bytes', xattrs: { 'user.b': 'x', 'user.a': new Uint8Array([0, 255]) } }
  yield { pathBytes: new Uint8Array([100, 47, 255]), mode: 0o10600, hlid: 'ab01' }
}
const progress = []
const made = await repo.create('first', entries(), { comment: 'one', tags: ['x', 'x'], onProgress: (told) => progress.push(told) })
check(made.items === 9 && made.nfiles === 6 && made.id.length === 64, JSON.stringify(made))
const again = await repo.create('second', entries(), { compression: 'auto,zstd,-7', chunkerParams: 'fastcdc,19,23,21,2' })
check(again.deduplicatedSize < 2000, `not deduplicated: ${JSON.stringify(again)}`)

const reader = await openRepository(store, { passphrase })
for (const name of ['first', 'second']) {
  const archive = await reader.archive(name)
  let items = 0
  for await (const item of archive.items()) {
    items += 1
    if (item.path === 'd') check(item.mtimeNs === 5n && item.user === 'me' && item.uid === 7 && item.mode === 0o40755, 'd')
    if (item.path === 'd/link') {
      check(item.target === 'bytes' && `${item.xattrs.get('user.a')}` === '0,255', 'd/link')
      check([...item.xattrs.keys()].join() === 'user.a,user.b', 'xattrs are not sorted')
    }
    if (item.type === 'fifo') check(item.hlid === 'ab01' && item.pathBytes[2] === 255, 'fifo')
    if (item.type !== 'file') continue
    const found = new Uint8Array(await new Response(archive.open(item)).arrayBuffer())
    check(Buffer.compare(found, wanted[item.path]) === 0, `${name}: ${item.path}: other content`)
    check(item.mtimeNs === 1_700_000_000_123_456_789n && item.mode === 0o100644, `${item.path}: other attributes`)
  }
  check(items === 9, `${name}: ${items} items`)
}
const first = await reader.archive('first')
check(first.comment === 'one' && `${first.tags}` === 'x' && first.size === made.size && first.nfiles === 6, 'meta')
check((await reader.verify({ data: true })).ok, 'verify')
await reader.close()

await fails(repo.create('a/b', []), MisuseError, 'CommandError', 'Invalid archive name')
await fails(repo.create('x', [], { compression: 'zstd,19' }), MisuseError, 'CommandError', 'only -7 to 4')
await fails(repo.create('x', [], { compression: 'rot13' }), MisuseError, 'CommandError', 'unsupported compression type')
await fails(repo.create('x', [], { tags: ['a b'] }), MisuseError, 'CommandError', 'Invalid tag')
await fails(repo.create('x', [{ path: '../x' }]), MisuseError, 'BackupPathTraversalError')
await fails(repo.create('x', [{ path: 'x', type: 'directory', content: 'x' }]), MisuseError, 'CommandError')
await fails(repo.delete('third'), MisuseError, 'Archive.DoesNotExist')
class Mine extends Error {}
async function* broken() {
  yield { path: 'a', content: noise }
  throw new Mine('mine')
}
await fails(repo.create('x', broken()), Mine, undefined, 'mine')
await fails(repo.create('x', broken(), { signal: AbortSignal.abort(new Mine('aborted')) }), Mine, undefined, 'aborted')
const controller = new AbortController()
async function* endless() {
  yield { path: 'a' }
  controller.abort(new Mine('aborted late'))
  await new Promise(() => {})
}
await fails(repo.create('x', endless(), { signal: controller.signal }), Mine, undefined, 'aborted late')
const locks = () => [...store.files.keys()].filter((name) => name.startsWith('locks/'))
check(locks().length === 0, `locks are left: ${locks()}`)

// Someone else's archive in the making keeps a compaction away, but not another archive.
const other = await openForWriting(store, { passphrase })
let release
const held = new Promise((resolve) => (release = resolve))
async function* slow() {
  yield { path: 'slow' }
  await held
}
const slowly = other.create('slow', slow())
while (locks().length === 0) await new Promise((wake) => setTimeout(wake, 10))
await fails(repo.compact(), SourceError, 'LockTimeout', 'shared lock')
await repo.create('beside', [{ path: 'beside' }])
release()
await slowly
await other.close()

const failing = { ...bound(store), write: async () => { throw new Error('disk full') } }
const full = await openForWriting(failing, { passphrase })
await fails(full.create('x', []), SourceError, 'Error', 'disk full')
await full.close()
function bound(store) {
  return Object.fromEntries(['list', 'read', 'write', 'delete', 'move', 'sync'].map((op) => [op, store[op].bind(store)]))
}

check((await repo.delete(['first', 'slow', 'beside'])).length === 3, 'delete')
const before = [...store.files.keys()].filter((name) => name.startsWith('packs/')).length
const compacted = await repo.compact()
check(compacted.problems.length === 0 && before > 0, JSON.stringify(compacted))
const last = await openRepository(store, { passphrase })
const left = []
for await (const archive of last.archives()) left.push(archive.name)
check(`${left}` === 'second' && (await last.verify({ data: true })).ok, `left: ${left}`)
await last.close()
await repo.close()
await fails(repo.create('x', []), MisuseError)
