// Repositories that were opened here before: where they lie, and never a passphrase, a key or a password.

import type { Place } from './place'

export interface Recent {
  /** The repository's own id. */
  id: string
  label: string
  /** In milliseconds since 1970. */
  opened: number
  handle?: FileSystemDirectoryHandle
  url?: string
}

/** The latest first; none where the browser keeps nothing. */
export async function recents(): Promise<Recent[]> {
  try {
    const all = await asked<Recent[]>('readonly', (store) => store.getAll())
    return all.sort((a, b) => b.opened - a.opened).slice(0, MOST)
  } catch {
    return []
  }
}

/** Remembers a place, if it can be come back to. */
export async function remember(id: string, place: Place): Promise<void> {
  if (place.kind !== 'handle' && place.kind !== 'http') return
  const where = place.kind === 'handle' ? { handle: place.handle } : { url: place.url }
  const recent: Recent = { id, label: place.label, opened: Date.now(), ...where }
  await asked('readwrite', (store) => store.put(recent)).catch(() => {}) // it is a convenience
}

export async function forget(id: string): Promise<void> {
  await asked('readwrite', (store) => store.delete(id)).catch(() => {})
}

/** The place of one; asks the browser's permission, so a click must have led here. */
export async function placeOf({ label, handle, url }: Recent): Promise<Place> {
  if (!handle) return { kind: 'http', label, url: url ?? '' }
  const state = await (handle as Permitted).requestPermission?.({ mode: 'read' })
  if (state === 'denied' || state === 'prompt') throw new DOMException(label, 'NotAllowedError')
  return { kind: 'handle', label, handle }
}

/** What browsers that hand out folders have, and the common types do not. */
interface Permitted {
  requestPermission?(options: { mode: 'read' | 'readwrite' }): Promise<PermissionState>
}

const MOST = 8
const DATABASE = 'portaborg'
const STORE = 'recent'

async function asked<Answer>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<Answer> {
  const database = await settled<IDBDatabase>(opening())
  try {
    return await settled<Answer>(ask(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

function opening(): IDBOpenDBRequest {
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'id' })
  return request
}

function settled<Answer>(request: IDBRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as Answer)
    request.onerror = () => reject(request.error)
  })
}
