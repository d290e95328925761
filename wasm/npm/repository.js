// An open repository and its archives, over the line to the worker that reads them.

import { contents, streamOf } from './contents.js'
import { misuse, toError } from './errors.js'
import { Item } from './item.js'
import { tar } from './tar.js'
import { zip } from './zip.js'

const utf8 = new TextEncoder()
/** Pieces of content that may be on their way before they are asked for. */
const CONTENT_CREDITS = 4
/** The same where many items come with short contents. */
const RESTORE_CREDITS = 16

export class Repository {
  #link

  constructor(link, { id, encryption, idHash, warnings }) {
    this.#link = link
    this.id = id
    this.encryption = encryption
    this.idHash = idHash
    this.warnings = warnings.map(toError)
  }

  /** The archives, or the soft-deleted ones, oldest first. */
  async *archives({ deleted = false, signal } = {}) {
    const listed = JSON.parse(await this.#link.call('archives', [Boolean(deleted)], { signal }))
    for (const facts of listed) yield new Archive(this.#link, facts)
  }

  /** The archive that `aid:` and the beginning of its id mean, or a name that no other has. */
  async archive(wanted, { signal } = {}) {
    return new Archive(this.#link, JSON.parse(await this.#link.call('archive', [String(wanted)], { signal })))
  }

  /**
   * Items whose path has a text in it, whatever its case, or matches a regular expression; newest archive first. What is wrong with
   * an archive is thrown, or given to `onProblem`, and then the rest follows.
   */
  async *search(wanted, { archives, limit = Infinity, onProblem, signal } = {}) {
    const isText = !(wanted instanceof RegExp)
    const filter = isText ? { contains: String(wanted) } : { match: wanted }
    let left = limit
    for await (const archive of this.#newestFirst(archives, onProblem, signal)) {
      if (left <= 0) return
      const some = isText && left < Infinity ? { ...filter, limit: Math.ceil(left) } : filter
      for await (const item of Archive.items(archive, some, { onProblem, signal })) {
        yield { archive, item }
        left -= 1
        if (left <= 0) return
      }
    }
  }

  /** What a path was in each archive that has it, newest first. */
  async *versions(path, { archives, onProblem, signal } = {}) {
    const filter = { under: path, exact: true }
    for await (const archive of this.#newestFirst(archives, onProblem, signal)) {
      for await (const item of Archive.items(archive, filter, { onProblem, signal })) yield { archive, item }
    }
  }

  /**
   * The paths that differ between two archives: `change` is added, removed or modified, `changes` what Borg calls it, `a` and `b`
   * are the items, where there is one. What is wrong with an archive is thrown, or given to `onProblem`, and then the rest follows.
   */
  async *diff(a, b, { onProblem, signal } = {}) {
    const ids = []
    for (const one of [a, b]) {
      const archive = typeof one === 'string' ? await this.archive(one, { signal }) : one
      if (archive.problem) throw archive.problem
      ids.push(archive.id)
    }
    for await (const { text, bytes } of this.#link.stream('diff', ids, { signal })) {
      const { differences = [], ...batch } = JSON.parse(text)
      const items = itemsOf(batch, bytes, onProblem)
      for (const { change, changes, a, b } of differences) {
        const [before, after] = [a, b].map((number) => number === undefined ? undefined : items(number))
        yield { path: (after ?? before).path, change, changes, a: before, b: after }
      }
    }
  }

  async *#newestFirst(only, onProblem, signal) {
    const listed = []
    for await (const archive of this.archives({ signal })) listed.push(archive)
    const ids = only && new Set(Array.from(only, (archive) => archive.id ?? archive))
    for (const archive of listed.reverse()) {
      if (ids && !ids.has(archive.id)) continue
      if (!archive.problem) yield archive
      else if (onProblem) onProblem(archive.problem)
      else throw archive.problem
    }
  }

  /** Looks for damage; with `data`, all content is read. */
  async verify({ data = false, onProgress, signal } = {}) {
    const report = await this.#link.call('verify', [Boolean(data)], { signal, onTell: onProgress })
    const { objects, archives, ...rest } = JSON.parse(report)
    const withError = ({ problem, ...rest }) => ({ ...rest, problem: toError(problem) })
    return {
      ...rest,
      objects: objects.map(toError),
      archives: archives.map(({ problems, files, ...rest }) => ({
        ...rest,
        problems: problems.map(toError),
        files: files.map(withError),
      })),
    }
  }

  /** Ends the workers, when they have wiped their memory. Nothing of the repository can be used afterwards. */
  async close() {
    await this.#link.close()
  }

  async [Symbol.asyncDispose ?? Symbol('asyncDispose')]() {
    await this.close()
  }
}

export class Archive {
  #link

  constructor(link, { id, name, meta, problem }) {
    this.#link = link
    this.id = id
    this.name = name
    const { time, start, end, ...rest } = meta ?? {}
    Object.assign(this, { tags: [], comment: '', hostname: '', username: '', size: 0, nfiles: 0 }, rest)
    this.time = date(time)
    this.start = date(start)
    this.end = date(end)
    this.problem = problem && toError(problem)
  }

  /**
   * The items in the order in which they were archived: those under a folder, that a pattern matches, down to a depth. What is
   * wrong with the archive's list of items is thrown in its place, or given to `onProblem`, and then the rest follows.
   */
  items({ under, match, depth, onProblem, signal } = {}) {
    return Archive.items(this, { under, match, depth }, { onProblem, signal })
  }

  /** What is right in a folder: so many of it from a place on, in an order (`-` before it turns it round). */
  async dir(path = '', { sort = 'name', offset = 0, count, onProblem, signal } = {}) {
    const descending = String(sort).startsWith('-')
    const wanted = { path: [...pathBytes(path, 'path')], sort: String(sort).replace(/^-/, ''), descending, offset, count }
    const stream = this.#link.stream('folder', [this.id, JSON.stringify(wanted)], { signal })
    const items = []
    while (true) {
      const { done, value } = await stream.next()
      if (done) return { items, ...JSON.parse(value) }
      for (const item of parse(value, onProblem)) items.push(item)
    }
  }

  /** The items that a filter of the module's leaves. */
  static async *items(archive, { under, match, ...rest }, { onProblem, signal }) {
    const matches = match === undefined ? [] : [match].flat()
    const expressions = matches.filter((one) => one instanceof RegExp)
    const patterns = expressions.length > 0 ? [] : matches.map(String)
    if (expressions.length > 0 && expressions.length < matches.length) {
      throw misuse('match', 'Patterns and regular expressions can not be mixed.')
    }
    const wanted = under === undefined ? undefined : [...pathBytes(under, 'under')]
    const filter = JSON.stringify({ under: wanted, match: patterns, ...rest })
    for await (const batch of archive.#link.stream('items', [archive.id, filter], { signal })) {
      for (const item of parse(batch, onProblem)) {
        if (expressions.length === 0 || expressions.some((one) => matchesText(one, item.path))) yield item
      }
    }
  }

  /** The content of a file, in order: all of it, or the bytes from `range.start` up to `range.end`. */
  open(file, { range, signal } = {}) {
    const { start = 0, end = Infinity } = range ?? {}
    if (!(start >= 0) || !(end >= start)) throw misuse('range', 'A range begins at 0 or later, and ends behind its beginning.')
    let pieces
    return new ReadableStream(
      {
        pull: async (controller) => {
          pieces ??= await this.#content(file, start, end, signal)
          const { done, value } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(value.bytes)
        },
        cancel: () => pieces?.return(),
      },
      { highWaterMark: 0 },
    )
  }

  /**
   * Gives items with these paths, and what is below them, to `sink.item(item)`, in order; where that gives a WritableStream, the
   * content goes there. A part that can't be had is zeros, and told to `onProblem(problem, item)`; without that, it is thrown.
   */
  async restore({ paths, sink, onProgress, onProblem, signal }) {
    const done = { items: 0, bytes: 0 }
    for await (const { item, pieces } of this.#contents(paths, onProblem, signal)) {
      const writer = (await sink.item(item))?.getWriter()
      try {
        for await (const piece of pieces) {
          await writer?.write(piece)
          done.bytes += piece.length
          onProgress?.({ ...done })
        }
        await writer?.close()
      } catch (error) {
        await writer?.abort(error).catch(() => {})
        throw error
      }
      done.items += 1
      onProgress?.({ ...done })
    }
    return done
  }

  /** A tar file of items with these paths, and what is below them. */
  tar({ paths, onProblem, signal } = {}) {
    return streamOf(tar(this.#contents(paths, onProblem, signal), onProblem))
  }

  /** A zip file of them. */
  zip({ paths, onProblem, signal } = {}) {
    return streamOf(zip(this.#contents(paths, onProblem, signal), onProblem))
  }

  #contents(paths = [], onProblem, signal) {
    const list = Array.from(paths, (path) => [...pathBytes(path instanceof Item ? path.pathBytes : path, 'paths')])
    const stream = this.#link.stream('restore', [this.id, JSON.stringify(list)], { signal, credits: RESTORE_CREDITS })
    return contents(stream, onProblem)
  }

  /** What is missing or broken, file by file: all content is read for that. */
  async *damage({ onProgress, signal } = {}) {
    for await (const { text } of this.#link.stream('damage', [this.id], { signal, onTell: onProgress })) {
      const { path, parts, broken, problem } = JSON.parse(text)
      const withError = ({ problem, ...rest }) => ({ ...rest, problem: toError(problem) })
      yield { path, broken, parts: parts.map(withError), problem: toError(problem) }
    }
  }

  async #content(file, start, end, signal) {
    const item = file instanceof Item ? file : await this.#find(pathBytes(file, 'path'), signal)
    const chunks = Item.content(item)
    if (!chunks) throw misuse(item.path, `${item.path} is a ${item.type}, which has no content.`)
    const options = { signal, credits: CONTENT_CREDITS, transfer: [chunks.buffer] }
    return this.#link.stream('content', [chunks, start, end], options)
  }

  async #find(path, signal) {
    const problems = []
    const options = { onProblem: (problem) => problems.push(problem), signal }
    for await (const item of Archive.items(this, { under: path, exact: true, limit: 1 }, options)) return item
    if (problems.length > 0) throw problems[0]
    const name = new TextDecoder().decode(path)
    throw misuse(name, `${name} is not in the archive.`, 'IncludePatternNeverMatchedWarning')
  }
}

/** The items of a batch, each made when it is asked for; a problem is thrown, or given to whom it may concern. */
function* parse({ text, bytes }, onProblem) {
  const batch = JSON.parse(text)
  const item = itemsOf(batch, bytes, onProblem)
  for (let number = 0; number < (batch.items?.length ?? 0); number += 1) yield item(number)
}

/** What makes an item of a batch by its number. */
function itemsOf({ items = [], problem }, bytes, onProblem) {
  if (problem) {
    if (!onProblem) throw toError(problem)
    onProblem(toError(problem))
  }
  return (number) => new Item(items[number], bytes)
}

function date(text) {
  // What has no offset is in UTC, which is not what JavaScript takes it for.
  return text && new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`)
}

function pathBytes(path, what) {
  if (typeof path === 'string') return utf8.encode(path)
  if (path instanceof Uint8Array) return path
  throw misuse(what, `This is no valid value for ${what}.`)
}

function matchesText(expression, text) {
  expression.lastIndex = 0
  return expression.test(text)
}
