// Helpers: workers with a module each, to which the one that has the repository gives what it has read. There is a channel
// between it and each of them; jobs go one way, and what came of them the other, in the same order.

/** The helpers, as whoever has the repository sees them. */
export class Crew {
  #recruit
  #helpers = []

  /** `recruit()` asks for helpers; it is called when there is work for them. */
  constructor(recruit) {
    this.#recruit = recruit
  }

  /** Takes a helper's channel, and tells it what it has to know. It gets jobs from when it says that it is ready. */
  add(port, hello, transfer) {
    const helper = { port, jobs: [], bytes: 0 }
    port.onmessage = ({ data }) => {
      if (data.ready) return this.#helpers.push(helper)
      const { bytes, resolve } = helper.jobs.shift()
      helper.bytes -= bytes
      resolve(data.done ? data : { settled: data.pieces.map((value) => ({ status: 'fulfilled', value })) })
    }
    port.postMessage(hello, transfer)
  }

  isReady() {
    this.#recruit?.()
    this.#recruit = null
    return this.#helpers.length > 0
  }

  /** What a helper makes of a job; what was read, if not all of it could be, or else `{ settled }`. */
  async work(errand, readings, lengths) {
    const settled = await Promise.allSettled(readings)
    const isRight = ({ value }, number) => value instanceof Uint8Array && value.length <= lengths[number]
    if (!settled.every(isRight)) return { settled }
    const helper = this.#helpers.reduce((a, b) => (b.bytes < a.bytes ? b : a))
    const pieces = settled.map(({ value }) => own(value))
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    helper.bytes += bytes
    helper.port.postMessage({ errand, pieces }, [errand, ...pieces].map(({ buffer }) => buffer))
    return new Promise((resolve) => helper.jobs.push({ bytes, resolve }))
  }
}

/** The jobs, as a helper sees them. */
export class Inbox {
  #port
  #queue = []
  #taken = []
  #wake = null

  constructor(port) {
    this.#port = port
    port.onmessage = ({ data }) => {
      this.#queue.push(data)
      this.#wake?.()
    }
    port.postMessage({ ready: true })
  }

  async next() {
    while (this.#queue.length === 0) await new Promise((wake) => (this.#wake = wake))
    return this.now()
  }

  now() {
    const job = this.#queue.shift()
    if (!job) return undefined
    this.#taken.push(job.pieces)
    return [job.errand, job.pieces]
  }

  done(lengths, short, long) {
    this.#taken.shift()
    this.#port.postMessage({ done: [lengths, short, long] }, [lengths, short, ...long].map(({ buffer }) => buffer))
  }

  failed() {
    const pieces = this.#taken.shift()
    this.#port.postMessage({ pieces }, pieces.map(({ buffer }) => buffer))
  }
}

/** Bytes that have a buffer for themselves, which can be given away. */
function own(bytes) {
  return bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice()
}
