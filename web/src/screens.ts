// Which screen is shown. The browser's history counts them only: names of files and archives stay in this tab's memory.

import { signal } from '@preact/signals'
import type { Archive } from 'portaborg'
import type { Path } from './path'
import { texts } from './texts'

export type Screen =
  | { name: 'open' }
  | { name: 'archives' }
  | { name: 'files'; archive: Archive; folder: Path; selected?: string }
  | { name: 'search'; archive?: Archive }
  | { name: 'versions'; path: Path; from: Archive }
  | { name: 'difference'; before: Archive; after: Archive }
  | { name: 'verify' }

export const screen = signal<Screen>({ name: 'open' })

/** Goes to a screen; with `replace` the one that is left can't be come back to. */
export function go(next: Screen, { replace = false } = {}): void {
  if (!replace) at += 1
  visited.length = at
  visited[at] = next
  history[replace ? 'replaceState' : 'pushState']({ at }, '')
  show(next)
}

/** Keeps something of the screen for the time when it is come back to. */
export function remember(changed: Screen): void {
  visited[at] = changed
}

let at = 0
const visited: Screen[] = [screen.value]
history.replaceState({ at }, '')

addEventListener('popstate', ({ state }) => {
  const wanted = (state as { at?: number } | null)?.at ?? 0
  const target = visited[wanted]
  if (!target) return // of a page that was left since
  at = wanted
  show(target)
})

function show(next: Screen): void {
  screen.value = next
  document.title = `${texts.titles[next.name]} – ${texts.name}`
}
