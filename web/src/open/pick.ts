// A folder from a person: dropped, or chosen with the browser's own dialog.

import type { Place } from './place'

/** Whether the browser hands out folders that can be read later, and remembered. */
export const picksFolders = typeof window.showDirectoryPicker === 'function'

/** A folder from the browser's dialog; undefined if the person thought better of it. */
export async function pickFolder(): Promise<Place | undefined> {
  try {
    const handle = await window.showDirectoryPicker!({ id: 'repository', mode: 'read' })
    return { kind: 'handle', label: handle.name, handle }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

/** The files of `<input type="file" webkitdirectory>`. */
export function placeOfInput(input: HTMLInputElement): Place | undefined {
  const files = [...(input.files ?? [])]
  const [first] = files
  if (!first) return undefined
  return { kind: 'files', label: first.webkitRelativePath.split('/')[0] || first.name, files }
}

/** What was dropped; undefined if there was no folder in it. Must be called while the event is handled. */
export function placeOfDrop(data: DataTransfer): Promise<Place | undefined> {
  const item = [...data.items].find(({ kind }) => kind === 'file')
  if (!item) return Promise.resolve(undefined)
  // Both must be asked for before anything is waited for.
  const handle = item.getAsFileSystemHandle?.() ?? Promise.resolve(null)
  const entry = item.webkitGetAsEntry?.() ?? null
  return placeOfEither(handle, entry)
}

async function placeOfEither(asked: Promise<FileSystemHandle | null>, entry: FileSystemEntry | null) {
  const handle = await asked.catch(() => null)
  if (handle?.kind === 'directory') {
    return { kind: 'handle', label: handle.name, handle: handle as FileSystemDirectoryHandle } satisfies Place
  }
  if (!entry?.isDirectory) return undefined
  const files = await filesBelow(entry as FileSystemDirectoryEntry)
  return { kind: 'files', label: entry.name, files } satisfies Place
}

async function filesBelow(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const found: File[] = []
  const folders = [folder]
  for (let next = folders.pop(); next; next = folders.pop()) {
    for (const entry of await entriesOf(next)) {
      if (entry.isDirectory) folders.push(entry as FileSystemDirectoryEntry)
      else found.push(await fileOf(entry as FileSystemFileEntry))
    }
  }
  return found
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const found: FileSystemEntry[] = []
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return found
    found.push(...some)
  }
}

/** A file that knows its place, as those of an input do. */
async function fileOf(entry: FileSystemFileEntry): Promise<File> {
  const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
  Object.defineProperty(file, 'webkitRelativePath', { value: entry.fullPath.replace(/^\//, '') })
  return file
}
