// Everything of a good repository against what the kit knows, in whatever host: `run` gives what is wrong, a line each.
//
// A host has `openRepository`, a `source`, the `expected` JSON of the fixture, a `key` if it needs one, `workers`, `threads`, `sha256`,
// which promises the digest of a list of pieces, and `startedWorkers`, which tells how many were started.

/** By the bits of a mode. */
const TYPES = {
  [0o100000]: 'file',
  [0o040000]: 'directory',
  [0o120000]: 'symlink',
  [0o010000]: 'fifo',
  [0o020000]: 'character device',
  [0o060000]: 'block device',
}

export async function run(host) {
  const { expected, key, workers, threads } = host
  const lines = []
  const wrong = (text) => lines.push(text)
  const same = (what, found, wanted) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
    if (a !== b) wrong(`${what} is ${a}, not ${b}`)
  }
  const repo = await host.openRepository(await host.source(), { passphrase: expected.passphrase, key, workers, threads })
  same('id', repo.id, expected.repository_id ?? repo.id)
  same('encryption', repo.encryption, expected.encryption ?? repo.encryption)
  same('idHash', repo.idHash, expected.id_hash ?? repo.idHash)
  const test = { ...host, repo, wrong, same }
  for (const deleted of [false, true]) await archives(test, deleted)
  const report = await repo.verify({ data: true })
  if (!report.ok) wrong(`verify: ${JSON.stringify(report)}`)
  await repo.close()
  return lines
}

async function archives(test, deleted) {
  const { repo, expected, same } = test
  const wanted = new Map(expected.archives.filter((one) => one.soft_deleted === deleted).map((one) => [one.id, one]))
  const listed = []
  for await (const archive of repo.archives({ deleted })) listed.push(archive)
  same(`archives, deleted ${deleted}`, listed.map(({ id }) => id).sort(), [...wanted.keys()].sort())
  const times = listed.map(({ time }) => Number(time))
  same('order of archives', times, [...times].sort((a, b) => a - b))
  for (const archive of listed) {
    const { metadata } = wanted.get(archive.id)
    for (const field of ['name', 'username', 'hostname', 'size', 'nfiles']) {
      same(`${archive.id}: ${field}`, archive[field], metadata[field])
    }
    same(`${archive.id}: comment`, archive.comment, metadata.comment ?? '')
    same(`${archive.id}: tags`, archive.tags, [...(metadata.tags ?? [])].sort())
    for (const field of ['time', 'start', 'end']) {
      const text = metadata[field].replace(/\.(\d{3})\d*/, '.$1')
      same(`${archive.id}: ${field}`, archive[field].toISOString(), new Date(zoned(text)).toISOString())
    }
    if (!deleted) {
      const again = await repo.archive(`aid:${archive.id.slice(0, 12)}`)
      same('archive by id', again.id, archive.id)
      await contents(test, again, wanted.get(archive.id))
    }
  }
}

function zoned(text) {
  return /([+-]\d\d:\d\d|Z)$/.test(text) ? text : `${text}Z`
}

async function contents(test, archive, wanted) {
  const { same, wrong, sha256 } = test
  const paths = []
  const first = wanted.items ?? wanted.first_items
  const last = wanted.items ? [] : wanted.last_items
  const lastFrom = wanted.item_count - last.length
  let count = 0
  let some
  for await (const item of archive.items()) {
    const facts = first[count] ?? last[count - lastFrom]
    if (facts) await compare(test, archive, item, facts)
    paths.push(item.path)
    count += 1
    if (item.chunks?.length > 0) some = item
  }
  same(`${archive.name}: items`, count, wanted.item_count)
  const hash = wanted.sha256_of_paths_joined_by_newline
  if (hash) same(`${archive.name}: paths`, await sha256(paths.map((path) => utf8.encode(`${path}\n`))), hash)
  if (some) await byPath(test, archive, some)
  for await (const damage of archive.damage()) wrong(`${archive.name}: damage: ${JSON.stringify(damage)}`)
}

async function compare({ same, sha256 }, archive, item, facts) {
  const name = `${archive.name}: ${item.path}`
  const raw = (text) => (text?.hex === undefined ? text && hex(utf8.encode(text)) : text.hex)
  const text = (number) => number?.toString()
  const mode = Number(facts.mode)
  same(`${name}: pathBytes`, hex(item.pathBytes), raw(facts.path))
  same(`${name}: targetBytes`, hex(item.targetBytes), raw(facts.target))
  same(`${name}: mode`, item.mode, mode)
  same(`${name}: type`, item.type, TYPES[mode & 0o170000])
  for (const field of ['uid', 'gid', 'user', 'group', 'hlid']) same(`${name}: ${field}`, item[field], facts[field])
  same(`${name}: inode`, text(item.inode), text(facts.inode))
  same(`${name}: rdev`, text(item.rdev), text(facts.rdev))
  same(`${name}: flags`, item.flags, facts.bsdflags)
  same(`${name}: size`, item.size, facts.size ?? 0)
  for (const time of ['mtime', 'atime', 'ctime', 'birthtime']) {
    same(`${name}: ${time}Ns`, text(item[`${time}Ns`]), facts[`${time}_ns`])
  }
  const xattrs = Object.fromEntries([...item.xattrs].map(([name, value]) => [name, hex(value)]))
  same(`${name}: xattrs`, xattrs, facts.xattrs ?? {})
  same(`${name}: access ACL`, item.acl.access, facts.acl_access)
  same(`${name}: default ACL`, item.acl.default, facts.acl_default)
  same(`${name}: chunks`, item.chunks?.map(({ id, size }) => [id, size]), facts.chunks)
  if (item.chunks) same(`${name}: content`, await sha256(await pieces(archive.open(item))), facts.sha256)
}

/** Content by path, by its bytes, and parts of it. */
async function byPath({ same, wrong }, archive, item) {
  const bytes = await content(archive.open(item.path.includes('?') ? item.pathBytes : item.path))
  same(`${item.path}: length`, bytes.length, item.size)
  const middle = Math.floor(bytes.length / 2)
  for (const [start, end] of [[0, 1], [middle, middle + 3], [middle, undefined], [bytes.length, undefined], [0, 0]]) {
    const part = await content(archive.open(item, { range: { start, end } }))
    const wanted = bytes.subarray(start, end)
    const isSame = part.length === wanted.length && part.every((byte, at) => byte === wanted[at])
    if (!isSame) wrong(`${item.path}: bytes ${start} to ${end}`)
  }
}

async function content(stream) {
  return new Uint8Array(await new Blob(await pieces(stream)).arrayBuffer())
}

async function pieces(stream) {
  const pieces = []
  const reader = stream.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value)
  return pieces
}

const utf8 = new TextEncoder()

function hex(bytes) {
  return bytes && Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
