// From a place and a passphrase to an open repository.

import { RefusedError, type Repository, type Source } from 'portaborg'
import { open } from './engine'
import { reachOf, sourceOf, type Place } from './place'
import { narrow } from './policy'

/** A place that was found to be a repository, as far as that can be seen without its passphrase. */
export interface Found {
  readonly place: Place
  readonly source: Source
  /** The repository, if the empty passphrase opens it. */
  readonly repo?: Repository
  /** That it does not hold its key. */
  readonly needsKey: boolean
}

/** Finds out whether there is a repository, and tries the empty passphrase. From then on, nothing else is connected to. */
export async function find(place: Place, signal: AbortSignal): Promise<Found> {
  const source = await sourceOf(place, signal)
  signal.throwIfAborted()
  narrow(reachOf(place))
  try {
    const repo = await open(source, { passphrase: '', signal })
    return { place, source, repo, needsKey: false }
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    return { place, source, needsKey: error.code === NO_KEY }
  }
}

/** Opens with a passphrase, as it is typed and in both normal forms of Unicode, since keyboards differ in what they make of é. */
export async function unlock(source: Source, passphrase: string, key: string, signal: AbortSignal): Promise<Repository> {
  const forms = new Set([passphrase.normalize('NFC'), passphrase.normalize('NFD'), passphrase])
  let refusal: unknown
  for (const form of forms) {
    try {
      return await open(source, { passphrase: form, signal, ...(key.trim() && { key }) })
    } catch (error) {
      if (!(error instanceof RefusedError && error.code === WRONG)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

const NO_KEY = 'RepoKeyNotFoundError'
const WRONG = 'PassphraseWrong'
