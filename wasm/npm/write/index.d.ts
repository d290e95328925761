// Writing Borg 2 repositories.

import type { PortaborgError, Source } from '../index.js'

export type { Source } from '../index.js'
export {
  DamagedError,
  MisuseError,
  PortaborgError,
  RefusedError,
  SourceError,
  UnsupportedError,
} from '../index.js'

/** A place to read from and write to. Whoever reads from it with `portaborg` takes it for a source, too. */
export interface Store extends Source {
  /** All files in a folder, at any depth; `mtimeMs` tells when a file was changed, by the storage's clock. */
  list(prefix: string): Promise<{ name: string; size: number; mtimeMs?: number }[]>
  /** Stores a file whole or not at all, replacing what has its name. */
  write(name: string, content: Uint8Array): Promise<void>
  /** Removes a file; where there is none, it rejects with a `code` of `ENOENT`, or a `NotFoundError`. */
  delete(name: string): Promise<void>
  /** Gives a file another name in the same folder, replacing what has that; where there is none, it rejects likewise. */
  move(from: string, to: string): Promise<void>
  /** Makes durable what was done so far; without it, everything is as soon as its promise is fulfilled. */
  sync?(): Promise<void>
}

/** A store in memory. */
export interface MemoryStore extends Store {
  readonly files: Map<string, Uint8Array>
}

export const writers: {
  /** Node: a folder of this machine, made if need be. Every change is on the disk before it counts as done. */
  directory(path: string | URL): Promise<Store>
  /** Browsers: a folder that the File System Access API gave for writing, or one of the origin's private file system. */
  handle(directory: FileSystemDirectoryHandle): Promise<Store>
  /** A map of names to contents. */
  memory(files?: Map<string, Uint8Array>): Promise<MemoryStore>
}

export interface WriteOptions {
  /** Used exactly as it is; a string as its UTF-8. Empty if there is none. */
  passphrase?: string | Uint8Array
  signal?: AbortSignal
  /** The module, where it can't be found beside the package's files. */
  wasm?: URL | string | BufferSource | WebAssembly.Module
  /** Browsers: starts a worker of `portaborg/write/worker`, where it can't be found beside the package's files. */
  worker?: () => Worker
}

export interface CreateRepositoryOptions extends WriteOptions {
  encryption: 'aes256-ocb' | 'chacha20-poly1305' | 'authenticated-sha256' | 'authenticated-blake3'
  /** Of the encrypted modes; `sha256` if it is not said. */
  idHash?: 'sha256' | 'blake3'
  /** The repository's defaults for all its clients. */
  compression?: string
  chunkerParams?: string
}

export interface OpenForWritingOptions extends WriteOptions {
  /** Text of a key file or of a paper key, for a repository that does not hold its key. */
  key?: string
}

/** Makes a repository in an empty store, with its key in it, and opens it. */
export function createRepository(store: Store, options: CreateRepositoryOptions): Promise<WritableRepository>
/** Opens a repository for writing. Each call takes the lock that it needs. */
export function openForWriting(store: Store, options?: OpenForWritingOptions): Promise<WritableRepository>

export interface WritableRepository {
  readonly id: string
  readonly encryption: string
  readonly idHash: string
  readonly warnings: PortaborgError[]
  /** Makes an archive of entries, in their order. Until it is whole, there is none. */
  create(
    name: string,
    entries: Iterable<Entry> | AsyncIterable<Entry>,
    options?: CreateOptions,
  ): Promise<{
    id: string
    name: string
    time: string
    items: number
    nfiles: number
    /** Bytes as the archive states them; and those that the repository did not have yet, all that describes it included. */
    size: number
    deduplicatedSize: number
  }>
  /** Soft-deletes archives: all of them, or, if one of them isn't there, none. Space is freed by `compact`. */
  delete(
    archives: string | { id: string } | Iterable<string | { id: string }>,
    options?: { signal?: AbortSignal },
  ): Promise<string[]>
  /** Frees the space of what no archive needs any more; soft-deleted archives are gone for good then. */
  compact(options?: {
    /** A pack is rewritten if so many percent of it are not needed; 10 if it is not said. */
    threshold?: number
    onProgress?: (progress: { step: 'archives' | 'packs'; done: number; total: number }) => void
    signal?: AbortSignal
  }): Promise<{
    freedBytes: number
    droppedPacks: number
    rewrittenPacks: number
    mergedPacks: number
    problems: PortaborgError[]
  }>
  /** Ends the worker. What is on its way then ends as misuse; its lock stays until others find it stale. */
  close(): Promise<void>
}

export interface CreateOptions {
  /** As Borg spells it: `none`, `lz4`, `zlib,L`, `lzma,L`, `zstd,L` with L from -7 to 4, `auto,...`, `obfuscate,...`. */
  compression?: string
  chunkerParams?: string
  comment?: string
  tags?: Iterable<string>
  /** The time that the archive stands for; a number is in milliseconds since 1970. */
  time?: Date | number
  hostname?: string
  username?: string
  commandLine?: string
  cwd?: string
  onProgress?: (progress: { items: number; files: number; bytes: number }) => void
  signal?: AbortSignal
}

export type Content =
  | Uint8Array
  | ArrayBuffer
  | string
  | Blob
  | ReadableStream<Uint8Array>
  | Iterable<Uint8Array>
  | AsyncIterable<Uint8Array>

/** A file of an archive: what `portaborg` gives as an item, with content. */
export interface Entry {
  /** Relative; a `/` at its beginning is taken away. */
  path?: string
  /** In place of `path`, where it is no UTF-8. */
  pathBytes?: Uint8Array
  /** By its `mode`, or a file, if it is not said. */
  type?: 'file' | 'directory' | 'symlink' | 'fifo' | 'character device' | 'block device'
  /** Permissions, with the bits of its type or without. */
  mode?: number
  uid?: number
  gid?: number
  user?: string | Uint8Array
  group?: string | Uint8Array
  /** Nanoseconds since 1970; now, if it is not said. */
  mtimeNs?: bigint | number | string
  atimeNs?: bigint | number | string
  ctimeNs?: bigint | number | string
  birthtimeNs?: bigint | number | string
  inode?: bigint | number
  rdev?: bigint | number
  /** Where a symbolic link points. */
  target?: string
  targetBytes?: Uint8Array
  /** Equal for the names of one hard-linked file; each has its content. */
  hlid?: string | Uint8Array
  /** BSD's file flags. */
  flags?: number
  xattrs?: Map<string, Uint8Array | string> | Record<string, Uint8Array | string>
  acl?: { access?: string; default?: string; nfs4?: string; extended?: string }
  /** Of a file; without it, it is empty. */
  content?: Content | null
}
