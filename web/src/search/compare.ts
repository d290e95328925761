// Comparing archives, where the package can.

import type { Archive, Item, ProblemOptions, Repository } from 'portaborg'

export type Change = 'added' | 'removed' | 'modified'

export interface Difference {
  readonly path: string
  readonly change: Change
  /** Everything that differs, by Borg's names. */
  readonly changes: { type: string }[]
  readonly a?: Item
  readonly b?: Item
}

/** Whether the package compares archives. */
export function canCompare(repo: Repository): boolean {
  return typeof (repo as Partial<Comparing>).diff === 'function'
}

export function compare(repo: Repository, a: Archive, b: Archive, options: ProblemOptions): AsyncGenerator<Difference, void> {
  return (repo as unknown as Comparing).diff(a, b, options)
}

interface Comparing {
  diff(a: Archive, b: Archive, options: ProblemOptions): AsyncGenerator<Difference, void>
}
