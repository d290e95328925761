// A damaged or forged repository, in whatever host (see good.mjs). Whatever is wrong with it is an error of the package with a code;
// what comes out without an error is what was backed up. `run` gives what is wrong with that, a line each.

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

export async function run(host) {
  const test = new Test(host)
  await test.run()
  return test.lines
}

class Test {
  lines = []
  /** What was complained of. */
  complaints = 0

  constructor(host) {
    this.host = host
    this.expected = host.expected
    const intact = Object.values(host.expected.intact_archives ?? {})
    this.intact = new Map(intact.map(({ id, items }) => [id, new Map(items.map((item) => [item.path, item]))]))
  }

  async run() {
    const { expected, host } = this
    const { source, key, workers, threads } = host
    const options = { passphrase: expected.passphrase, key, workers, threads }
    const repo = await this.attempt('open', async () => host.openRepository(await source(), options))
    if (repo) {
      this.complaints += repo.warnings.length
      for await (const archive of repo.archives()) await this.contents(archive)
      const report = await this.attempt('verify', () => repo.verify({ data: true }))
      if (report && !report.ok) this.complaints += 1
      if (report) this.told(repo, report)
      await repo.close()
    }
    const isGood = expected.borg_2_0_0b25_reaction.every(({ exit_code }) => exit_code === 0)
    if (this.complaints === 0 && !isGood && !SILENT[expected.fixture]) this.wrong('nothing was complained of')
  }

  wrong(text) {
    this.lines.push(text)
  }

  /** What the real client's check finds, the report tells. */
  told(repo, report) {
    const check = this.expected.borg_2_0_0b25_reaction.find(({ command }) => command.startsWith('borg check'))
    if (check && check.exit_code !== 0 && report.ok && repo.warnings.length === 0) {
      this.wrong(`the real client's check ends with ${check.exit_code}, the report is good`)
    }
  }

  async contents(archive) {
    if (archive.problem) this.good(`${archive.id}`, archive.problem)
    const before = this.intact.get(archive.id)
    const missing = new Set(before?.keys())
    const complained = this.complaints
    await this.attempt(`${archive.id}: items`, async () => {
      for await (const item of archive.items({ onProblem: (problem) => this.good(archive.id, problem) })) {
        missing.delete(item.path)
        if (!item.chunks) continue
        const hash = await this.attempt(`${archive.id}: ${item.path}`, () => this.hash(archive.open(item)))
        const facts = before?.get(item.path)
        const isForged = FORGED[this.expected.fixture] === item.path
        if (hash && facts?.sha256 && hash !== facts.sha256 && !isForged) {
          this.wrong(`${archive.name}: ${item.path} has another content`)
        }
      }
    })
    if (missing.size > 0 && this.complaints === complained && !archive.problem) {
      this.wrong(`${archive.name}: ${[...missing]} missing, and nothing was said`)
    }
    await this.restore(archive, before)
    await this.attempt(`${archive.id}: damage`, async () => {
      for await (const { problem, parts } of archive.damage()) {
        this.good(archive.id, problem)
        for (const part of parts) this.good(archive.id, part.problem)
      }
    })
  }

  /** All at once: what can't be had is zeros, and told. */
  async restore(archive, before) {
    const broken = new Set()
    const onProblem = (problem, item) => {
      this.good(archive.id, problem)
      if (item) broken.add(item.path)
    }
    const item = (item) => {
      if (!item.chunks) return
      const pieces = []
      const close = async () => {
        const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
        if (length !== item.size) this.wrong(`${archive.name}: ${item.path} is restored with ${length} bytes`)
        const { sha256 } = before?.get(item.path) ?? {}
        const isRight = !sha256 || (await this.host.sha256(pieces)) === sha256
        if (!isRight && !broken.has(item.path) && FORGED[this.expected.fixture] !== item.path) {
          this.wrong(`${archive.name}: ${item.path} is restored with another content`)
        }
      }
      return new WritableStream({ write: (piece) => void pieces.push(piece), close })
    }
    await this.attempt(`${archive.id}: restore`, () => archive.restore({ sink: { item }, onProblem }))
  }

  /** What comes of it; undefined after an error, which must be one of the package's. */
  async attempt(what, run) {
    try {
      return await run()
    } catch (error) {
      this.good(what, error)
    }
  }

  good(what, error) {
    this.complaints += 1
    const isOurs = error instanceof this.host.PortaborgError
    const isGood = isOurs && error.code && error.code !== 'Exception' && error.message
    if (!isGood) this.wrong(`${what}: ${error?.stack ?? error} (${error?.code})`)
  }

  async hash(stream) {
    const pieces = []
    const reader = stream.getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value)
    return this.host.sha256(pieces)
  }
}
