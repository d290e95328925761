// Archives as people think of them: series, which have a name and a host, and lie one after the other in time.

import type { Archive } from 'portaborg'

export interface Group {
  readonly key: string
  readonly name: string
  readonly host: string
  readonly user: string
  /** Latest first. */
  readonly archives: Archive[]
}

/** Series, the one with the latest archive first; archives that can't be used come last. */
export function grouped(archives: readonly Archive[]): Group[] {
  const groups = new Map<string, Group>()
  for (const archive of latestFirst(archives)) {
    const { name, hostname, username, problem } = archive
    const key = problem ? '\0' : [name, hostname, username].join('\0')
    const group = groups.get(key) ?? { key, name: problem ? '' : name, host: hostname, user: username, archives: [] }
    group.archives.push(archive)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => Number(a.key === '\0') - Number(b.key === '\0'))
}

export function latestFirst(archives: readonly Archive[]): Archive[] {
  const at = ({ time }: Archive) => time?.getTime() ?? -Infinity
  return [...archives].sort((a, b) => at(b) - at(a) || (a.id < b.id ? 1 : -1))
}

/** Whether a text is in what is shown of an archive. */
export function hasText({ id, name, comment, hostname, username, tags }: Archive, wanted: string): boolean {
  const text = [name, comment, hostname, username, ...tags].join('\n').toLowerCase()
  return text.includes(wanted.toLowerCase()) || (wanted.length >= 4 && id.startsWith(wanted.toLowerCase()))
}
