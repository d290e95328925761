// Reads that go to a server together: what is wanted at about the same time, and lies close behind each other, is one request.

/** Bytes between two wanted places that are rather read as well than spared by another request. */
const MAX_GAP = 16 << 10
/** What one request is for, in bytes, unless a single place has more; and in places. */
const MAX_BYTES = 1 << 20
const MAX_PIECES = 500

/**
 * `line` has `enter()` and `leave()` around each request, `range(name, offset, length)`, and, where a server can do that,
 * `gather(pieces)` for any places of any files: null if one can't be had, undefined if the server does not know how.
 */
export class Reads {
  #line
  /** What is wanted and not asked for yet. */
  #wanted = []

  constructor(line) {
    this.#line = line
  }

  /** Up to `length` bytes of a file; null if it is not there. */
  read(name, offset, length) {
    return new Promise((resolve, reject) => {
      this.#wanted.push({ name, offset, length, resolve, reject })
      // Each brings one request with it. Those that have to wait, or come in the same breath, find their read done by others.
      this.#serve()
    })
  }

  async #serve() {
    await this.#line.enter()
    try {
      const runs = this.#take()
      if (runs.length === 1) await this.#one(runs[0])
      else if (runs.length > 1) await this.#several(runs)
    } finally {
      this.#line.leave()
    }
  }

  /** The next reads, as runs of those that lie close behind each other; of a server that can't gather, one run. */
  #take() {
    const first = this.#wanted[0]
    if (!first) return []
    const near = this.#line.gather ? this.#wanted : this.#wanted.filter(({ name }) => name === first.name)
    const order = [...near].sort((a, b) => (a.name === b.name ? a.offset - b.offset : a.name < b.name ? -1 : 1))
    // What was wanted first comes first, with what lies behind it.
    const start = order.indexOf(first)
    const runs = []
    let [bytes, pieces] = [0, 0]
    for (const read of [...order.slice(start), ...order.slice(0, start)]) {
      const run = runs.at(-1)
      const isNear = run?.name === read.name && read.offset >= run.offset && read.offset <= run.end + MAX_GAP
      const end = read.offset + read.length
      const more = isNear ? Math.max(0, end - run.end) : read.length
      if (runs.length > 0 && (bytes + more > MAX_BYTES || pieces === MAX_PIECES)) break
      if (!isNear && runs.length > 0 && !this.#line.gather) break
      if (isNear) {
        run.end = Math.max(run.end, end)
        run.reads.push(read)
      } else {
        runs.push({ name: read.name, offset: read.offset, end, reads: [read] })
      }
      bytes += more
      pieces += 1
    }
    const taken = new Set(runs.flatMap(({ reads }) => reads))
    this.#wanted = this.#wanted.filter((read) => !taken.has(read))
    return runs
  }

  async #one({ name, offset, end, reads }) {
    try {
      const bytes = await this.#line.range(name, offset, end - offset)
      for (const read of reads) read.resolve(bytes && part(bytes, read.offset - offset, read.length))
    } catch (error) {
      for (const read of reads) read.reject(error)
    }
  }

  async #several(runs) {
    const pieces = runs.map(({ name, offset, end }) => [name, offset, end - offset])
    try {
      const bytes = await this.#line.gather(pieces)
      if (bytes === undefined) this.#line.gather = undefined
      if (bytes && bytes.length === pieces.reduce((sum, [, , length]) => sum + length, 0)) {
        let at = 0
        for (const { offset, end, reads } of runs) {
          for (const read of reads) read.resolve(part(bytes, at + read.offset - offset, read.length))
          at += end - offset
        }
        return
      }
    } catch (error) {
      for (const { reads } of runs) for (const read of reads) read.reject(error)
      return
    }
    // One of them is not there, or shorter: only each for itself can tell which.
    for (const run of runs) await this.#one(run)
  }
}

/** A piece that is its own buffer, unless it is all of it. */
function part(bytes, start, length) {
  return start === 0 && bytes.length <= length ? bytes : bytes.slice(start, start + length)
}
