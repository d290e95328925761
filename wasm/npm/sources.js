// Places that a repository can be read from, in browsers and in Node.

import { FilesSource } from './sources/files.js'
import { HandleSource } from './sources/handle.js'
import { HttpSource } from './sources/http.js'

/** The sources that every platform has. */
export const shared = {
  handle: async (directory) => new HandleSource(directory),
  files: async (files) => FilesSource.of(files),
  http: async (url, init) => HttpSource.of(url, init),
}

const CLASSES = { handle: HandleSource, files: FilesSource, http: HttpSource }

/** What a worker makes the same source of; null for a source of the caller's, which stays where it is. */
export function specOf(source) {
  return source.spec?.() ?? null
}

/** The source that a worker was told of. */
export function fromSpec({ kind, args }, more = {}) {
  return new ({ ...CLASSES, ...more }[kind])(...args)
}
