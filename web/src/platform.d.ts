// What some browsers have and the common types lack.

interface FilePickerOptions {
  id?: string
  suggestedName?: string
  startIn?: string
}

interface Window {
  showDirectoryPicker?(options?: { id?: string; mode?: 'read' | 'readwrite'; startIn?: string }): Promise<FileSystemDirectoryHandle>
  showSaveFilePicker?(options?: FilePickerOptions): Promise<FileSystemFileHandle>
}

interface DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

interface ArrayConstructor {
  fromAsync<Item>(items: AsyncIterable<Item> | Iterable<Item>): Promise<Item[]>
}

declare module '*.css' {}

declare const VERSION: string
