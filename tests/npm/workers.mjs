// One worker and several give the same, in the same order, whatever is wrong, in whatever host (see good.mjs). Reads are delayed by
// chance, so that jobs end in any order, and some give other bytes than are stored. The repository has contents of some MiB.

/** Ways to spoil what was read of a pack; they depend on what is read alone. */
const SPOILS = {
  nothing: (bytes) => bytes,
  'a bit': (bytes, offset) => {
    if (offset % 5 === 0 && bytes.length > 1000) bytes[bytes.length >> 1] ^= 1
    return bytes
  },
  'an end': (bytes, offset) => (offset % 3 === 0 ? bytes.subarray(0, bytes.length - 1) : bytes),
  'a whole': (bytes, offset) => (offset % 4 === 0 ? null : bytes),
  'a failure': (bytes, offset) => {
    if (offset > 1_000_000) throw new Error('out of paper')
    return bytes
  },
  'more than was asked for': (bytes, offset) => (offset > 1_000_000 ? new Uint8Array(bytes.length + 1) : bytes),
}

export async function run(host) {
  const lines = []
  for (const [what, spoil] of Object.entries(SPOILS)) {
    const before = host.startedWorkers()
    const one = await record(host, 1, spoil)
    const several = await record(host, SEVERAL, spoil)
    const started = host.startedWorkers() - before
    // The one that reads, twice, and those that help (and other tests may start some, too).
    if (started < 2 + SEVERAL) lines.push(`${what}: ${started} workers were started`)
    if (several.length !== one.length) lines.push(`${what}: ${several.length} lines with several, ${one.length} with one`)
    const at = one.findIndex((line, number) => line !== several[number])
    if (at >= 0) lines.push(`${what}: ${several[at]} with several, ${one[at]} with one`)
    const isWrong = one.some((line) => line.includes('Error'))
    if (isWrong !== (what !== 'nothing')) lines.push(`${what}: ${isWrong ? 'something' : 'nothing'} is wrong`)
  }
  return lines
}

const SEVERAL = 3

/** All that comes out, a line each. */
async function record({ openRepository, source, expected, sha256, threads }, workers, spoil) {
  const good = await source()
  let spoils = false
  const read = async (name, offset, length) => {
    const bytes = await good.read(name, offset, length)
    await new Promise((wake) => setTimeout(wake, Math.random() * 3))
    return spoils && name.startsWith('packs/') && bytes ? spoil(bytes, offset) : bytes
  }
  const repo = await openRepository({ list: (prefix) => good.list(prefix), read }, {
    passphrase: expected.passphrase,
    workers,
    threads,
  })
  const lines = []
  const attempt = async (what, run) => {
    lines.push(what)
    await run().catch((error) => lines.push(`${error.name} ${error.code} ${error.object} ${error.message}`))
  }
  for await (const archive of repo.archives()) {
    spoils = false
    const items = []
    for await (const item of archive.items()) items.push(item)
    spoils = true
    for (const item of items.filter(({ chunks }) => chunks)) {
      const pieces = []
      await attempt(item.path, async () => {
        const reader = archive.open(item).getReader()
        for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value)
      })
      lines.push(await sha256(pieces)) // also what came before an error
    }
    const onProblem = (problem, item) => lines.push(`${item?.path}: ${problem.name} ${problem.message}`)
    const item = (item) => {
      lines.push(item.path)
      const pieces = []
      const close = async () => lines.push(await sha256(pieces))
      return item.chunks && new WritableStream({ write: (piece) => void pieces.push(piece), close })
    }
    await attempt('restore', () => archive.restore({ sink: { item }, onProblem }))
    await attempt('items', async () => {
      for await (const item of archive.items({ onProblem })) lines.push(JSON.stringify(item))
    })
    await attempt('damage', async () => {
      for await (const damage of archive.damage()) lines.push(JSON.stringify(damage))
    })
  }
  await attempt('verify', async () => lines.push(JSON.stringify(await repo.verify({ data: true }))))
  await repo.close()
  return lines
}
