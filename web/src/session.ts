// The open repository, and what has been found out about it in this tab.

import { signal } from '@preact/signals'
import type { Archive, HttpSource, PortaborgError, Repository, Source } from 'portaborg'
import { Basket } from './restore/basket'
import { Marks } from './verify/marks'
import type { Place } from './open/place'

export class Session {
  /** Oldest first. */
  readonly archives = signal<Archive[]>([])
  /** The soft-deleted ones; null until someone asks for them. */
  readonly deleted = signal<Archive[] | null>(null)
  /** What verifying the repository said of its objects. */
  readonly problems = signal<PortaborgError[]>([])
  #baskets = new Map<string, Basket>()
  #marks = new Map<string, Marks>()

  constructor(
    readonly repo: Repository,
    readonly place: Place,
    readonly source: Source | HttpSource,
    /** That the empty passphrase opened it. */
    readonly isUnprotected: boolean,
  ) {}

  async load(): Promise<void> {
    this.archives.value = await Array.fromAsync(this.repo.archives())
  }

  async loadDeleted(): Promise<void> {
    this.deleted.value = await Array.fromAsync(this.repo.archives({ deleted: true }))
  }

  /** What was ticked in an archive. */
  basket(archive: Archive): Basket {
    return made(this.#baskets, archive.id, () => new Basket(archive))
  }

  /** What is known to be damaged in an archive. */
  marks(archive: Archive): Marks {
    return made(this.#marks, archive.id, () => new Marks(archive))
  }

  /** An id of an archive, as the archive. */
  find(id: string): Archive | undefined {
    return [...this.archives.value, ...(this.deleted.value ?? [])].find((archive) => archive.id === id)
  }
}

export const session = signal<Session | null>(null)

/** Forgets everything: the memory of keys and names goes with the page. */
export async function leave(): Promise<void> {
  const { value } = session
  await Promise.race([value?.repo.close(), new Promise((wake) => setTimeout(wake, PATIENCE))])
  location.reload()
}

/** How long a worker may take for wiping its memory, in milliseconds. */
const PATIENCE = 1000

function made<Made>(all: Map<string, Made>, id: string, make: () => Made): Made {
  const known = all.get(id)
  if (known) return known
  const made = make()
  all.set(id, made)
  return made
}
