// Borg 2 repositories in browsers and in Node.

/** A place to read from. Names are paths below the repository's folder, such as `config/config` or `packs/ab/abcd…`. */
export interface Source {
  /** All files in a folder, at any depth; of a folder that isn't there, none. */
  list(prefix: string): Promise<{ name: string; size: number }[]>
  /** Up to `length` bytes from `offset`, fewer where the file ends; null where there is no such file. */
  read(name: string, offset: number, length: number): Promise<Uint8Array | null>
}

/** A source that is read over HTTP. */
export interface HttpSource extends Source {
  /** Requests that were sent, and bytes that came. */
  readonly stats: { requests: number; bytes: number }
}

export const sources: {
  /** Node: a folder of this machine. */
  directory(path: string | URL): Promise<Source>
  /** Browsers: a folder that the File System Access API gave. */
  handle(directory: FileSystemDirectoryHandle): Promise<Source>
  /** Browsers: the files of a folder that was chosen with `<input type="file" webkitdirectory>`. */
  files(files: Iterable<File> | ArrayLike<File>): Promise<Source>
  /** A borgstore server (`user:password@` in the URL for basic auth), or a folder on a web server with a listing. */
  http(url: string | URL, init?: RequestInit): Promise<HttpSource>
}

export interface OpenOptions {
  /** Used exactly as it is; a string as its UTF-8. Empty if there is none. */
  passphrase?: string | Uint8Array
  /** Text of a key file or of a paper key, for a repository that does not hold its key. */
  key?: string
  /**
   * Where items of archives that were read are kept, sealed with the repository's key, so that they need not be read again. In Node a
   * folder, if not the one in the user's folder of caches; in browsers the name of a folder in the origin's private file system. With
   * false, nothing is kept.
   */
  itemCache?: string | false
  /**
   * How many workers decrypt, decompress and verify: by default as many as there are processors, and no more than 4. With 1 the
   * worker that reads does it.
   */
  workers?: number
  /**
   * What several workers are: by default each has a module of its own; with 'shared', they are threads of one, whose memory they
   * share. In browsers that takes a page that is isolated from other origins.
   */
  threads?: 'workers' | 'shared'
  signal?: AbortSignal
  /** The module, where it can't be found beside the package's files. */
  wasm?: URL | string | BufferSource | WebAssembly.Module
}

/** Opens a repository for reading, without a lock: nothing is ever written to it. */
export function openRepository(source: Source, options?: OpenOptions): Promise<Repository>

export interface Abortable {
  signal?: AbortSignal
}

export interface Repository {
  readonly id: string
  readonly encryption: 'aes256-ocb' | 'chacha20-poly1305' | 'authenticated-sha256' | 'authenticated-blake3'
  readonly idHash: 'sha256' | 'blake3'
  /** What was damaged, but could be done without. */
  readonly warnings: PortaborgError[]
  /** The archives, or the soft-deleted ones, oldest first. */
  archives(options?: { deleted?: boolean } & Abortable): AsyncGenerator<Archive, void>
  /** The archive that `aid:` and the beginning of its id mean, or a name that no other archive has. */
  archive(wanted: string, options?: Abortable): Promise<Archive>
  /** Items whose path has a text in it, whatever its case, or matches a regular expression; newest archive first. */
  search(
    wanted: string | RegExp,
    options?: { archives?: Iterable<Archive | string>; limit?: number } & ProblemOptions,
  ): AsyncGenerator<Hit, void>
  /** What a path was in each archive that has it, newest first. */
  versions(
    path: string | Uint8Array,
    options?: { archives?: Iterable<Archive | string> } & ProblemOptions,
  ): AsyncGenerator<Hit, void>
  /** What differs between two archives, path by path: added, removed, or with other contents, types, owners, modes or times. */
  diff(a: Archive | string, b: Archive | string, options?: ProblemOptions): AsyncGenerator<Difference, void>
  /** Compares every pack with its hash, reads all chunks if `data` is set, and tells which files of which archives it hits. */
  verify(options?: { data?: boolean; onProgress?: (progress: VerifyProgress) => void } & Abortable): Promise<Report>
  /** Ends the workers, when they have wiped their memory. */
  close(): Promise<void>
}

export interface Archive {
  readonly id: string
  /** The archive's name, which need not be unique. */
  readonly name: string
  /** When it was made; undefined if there is a problem. */
  readonly time?: Date
  readonly start?: Date
  readonly end?: Date
  readonly tags: string[]
  readonly comment: string
  readonly hostname: string
  readonly username: string
  /** Sum of the files' lengths, in bytes. */
  readonly size: number
  readonly nfiles: number
  /** Why the archive can't be used. */
  readonly problem?: PortaborgError
  /** The items in the order in which they were archived. */
  items(options?: ItemsOptions): AsyncGenerator<Item, void>
  /** One page of what is right in a folder. `sort` is turned round by a `-` before it. */
  dir(
    path?: string | Uint8Array,
    options?: { sort?: Sort | `-${Sort}`; offset?: number; count?: number } & ProblemOptions,
  ): Promise<{ items: Item[]; total: number }>
  /** The content of a file, or a part of it: bytes in order, every one of them verified. An error comes in its place. */
  open(
    file: Item | string | Uint8Array,
    options?: { range?: { start?: number; end?: number } } & Abortable,
  ): ReadableStream<Uint8Array>
  /**
   * Gives items with these paths, and what is below them (without paths, all), to the sink, in order, and their contents to the
   * streams that the sink gives for them. A part that can't be had is zeros, and told to `onProblem`; without that, it is thrown.
   */
  restore(
    options: {
      sink: { item(item: Item): Promise<WritableStream<Uint8Array> | void> | WritableStream<Uint8Array> | void }
      onProgress?: (progress: { items: number; bytes: number }) => void
    } & ContentsOptions,
  ): Promise<{ items: number; bytes: number }>
  /** A tar file with PAX headers. Names of one hard-linked file have its content each; ACLs and flags are left out. */
  tar(options?: ContentsOptions): ReadableStream<Uint8Array>
  /** A zip file, not compressed, with names that every system takes; beyond 4 GiB it is a zip64 file. */
  zip(options?: ContentsOptions): ReadableStream<Uint8Array>
  /** What is missing or broken, file by file; all content is read for that. */
  damage(options?: { onProgress?: (progress: { items: number; bytes: number }) => void } & Abortable): AsyncGenerator<
    Damage,
    void
  >
}

export type Sort = 'name' | 'size' | 'mtime'

export interface Hit {
  archive: Archive
  item: Item
}

export interface Difference {
  readonly path: string
  readonly change: 'added' | 'removed' | 'modified'
  /** Everything that differs, by Borg's names: a content's bytes are those of chunks that the other one does not have. */
  readonly changes: { type: ChangeType; added?: number; removed?: number }[]
  /** What it is in the first archive. */
  readonly a?: Item
  /** What it is in the second archive. */
  readonly b?: Item
}

export type ChangeType =
  | 'added'
  | 'removed'
  | 'modified'
  | `${'added' | 'removed'} ${'directory' | 'link' | 'blkdev' | 'chrdev' | 'fifo'}`
  | `changed ${'link' | 'owner' | 'user' | 'group' | 'mode' | 'type'}`
  | 'ctime'
  | 'mtime'

export interface ProblemOptions extends Abortable {
  /** Takes what is wrong with an archive's list of items; without it, that is thrown, and ends the iteration. */
  onProblem?: (problem: PortaborgError) => void
}

export interface ContentsOptions extends Abortable {
  paths?: Iterable<Item | string | Uint8Array>
  /** Takes what is wrong with an item's content, or with the archive's list of items; without it, that is thrown. */
  onProblem?: (problem: PortaborgError, item?: Item) => void
}

export interface ItemsOptions extends ProblemOptions {
  /** Only this folder and what is in it. */
  under?: string | Uint8Array
  /** Only what matches one of these: Borg's patterns (`sh:` unless they say another style), or regular expressions. */
  match?: string | RegExp | (string | RegExp)[]
  /** Only so many levels below `under`: 1 is what lies right in it. */
  depth?: number
}

export interface Item {
  /** The path as text; bytes that are no UTF-8 are question marks. */
  readonly path: string
  readonly pathBytes: Uint8Array
  readonly type: 'file' | 'directory' | 'symlink' | 'fifo' | 'character device' | 'block device' | 'other'
  /** Length of the content, in bytes. */
  readonly size: number
  /** As in `st_mode`. */
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly user?: string
  readonly group?: string
  readonly mtimeNs: bigint
  readonly atimeNs?: bigint
  readonly ctimeNs?: bigint
  readonly birthtimeNs?: bigint
  readonly inode?: bigint
  readonly rdev?: bigint
  /** Where a symbolic link points. */
  readonly target?: string
  readonly targetBytes?: Uint8Array
  /** Equal for the names of one hard-linked file. */
  readonly hlid?: string
  /** BSD's file flags. */
  readonly flags?: number
  readonly xattrs: Map<string, Uint8Array>
  /** Access control lists, as the text that Borg stores. */
  readonly acl: { access?: string; default?: string; nfs4?: string; extended?: string }
  /** The pieces of the content; undefined for what has none. */
  readonly chunks?: { id: string; size: number }[]
  toJSON(): object
}

export interface Damage {
  /** The file; undefined where files are missing that nobody knows. */
  readonly path?: string
  /** How many pieces of its content can't be had. */
  readonly broken: number
  /** Where they are: no more than a hundred of them. */
  readonly parts: { offset: number; size: number; problem: PortaborgError }[]
  /** The first problem. */
  readonly problem: PortaborgError
}

export interface VerifyProgress {
  step: 'index' | 'packs' | 'chunks' | 'archives'
  done: number
  total: number
}

export interface Report {
  /** Nothing is wrong. */
  readonly ok: boolean
  readonly interrupted: boolean
  /** Packs and index fragments whose hashes were compared. */
  readonly files: number
  /** Chunks that were read. */
  readonly chunks: number
  /** Packs, index fragments and chunks that are wrong or missing. */
  readonly objects: PortaborgError[]
  /** Archives that this hits, with their files. */
  readonly archives: {
    id: string
    name: string
    problems: PortaborgError[]
    files: { path: string; broken: number; problem: PortaborgError }[]
  }[]
  /** There is more than is listed. */
  readonly truncated: boolean
}

/** What went wrong, with Borg's message id for it. */
export class PortaborgError extends Error {
  readonly code: string
  /** What it is about: an object's name, an id, a path. */
  readonly object: string
}
/** Something is missing, broken or forged. */
export class DamagedError extends PortaborgError {}
/** The passphrase or the key is not the right one. */
export class RefusedError extends PortaborgError {}
/** The repository, or a part of it, is of another kind or version. */
export class UnsupportedError extends PortaborgError {}
/** What was asked for makes no sense, or isn't there. */
export class MisuseError extends PortaborgError {}
/** The source failed. */
export class SourceError extends PortaborgError {}
