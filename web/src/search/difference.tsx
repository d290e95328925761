// Two archives compared: what was added, removed and changed from one to the other, folder by folder.

import type { Archive, Item, PortaborgError } from 'portaborg'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { iconOf } from '../files/kinds'
import { baseName, itemKey, parentOf, pathOf } from '../path'
import { go } from '../screens'
import type { Session } from '../session'
import { texts } from '../texts'
import { count, moment, size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name, plain } from '../ui/name'
import { Busy, Button, Empty, Heading, Notice } from '../ui/parts'
import { compare, type Change, type Difference as Found } from './compare'

export function Difference({ session, before, after }: { session: Session; before: Archive; after: Archive }) {
  const t = texts.difference
  const { found, isBusy, isCut, problems, error } = useDifferences(session, before, after)
  const [only, setOnly] = useState<Change | null>(null)
  const [wanted, setWanted] = useState('')
  const shown = useMemo(() => {
    const text = wanted.trim().toLowerCase()
    return found.filter(({ change, path }) => (only === null || change === only) && path.toLowerCase().includes(text))
  }, [found, only, wanted])
  const folders = useMemo(() => byFolder(shown), [shown])
  return (
    <div class="page difference">
      <div class="title">
        <Button kind="quiet" icon="back" label={texts.back} onClick={() => history.back()} />
        <Heading>{t.title}</Heading>
        <p class="difference-sides">
          <Side archive={before} /> <Icon name="forward" /> <Side archive={after} />
        </p>
      </div>
      <div class="toolbar">
        <div class="segmented" role="group" aria-label={t.kinds}>
          <Button pressed={only === null} onClick={() => setOnly(null)}>
            {t.all} {count(found.length)}
          </Button>
          {KINDS.map((kind) => (
            <Button pressed={only === kind} onClick={() => setOnly(kind)}>
              {t.changes[kind]} {count(found.filter(({ change }) => change === kind).length)}
            </Button>
          ))}
        </div>
        <label class="search-field">
          <Icon name="search" />
          <span class="hidden-text">{texts.search.field}</span>
          <input type="search" placeholder={texts.search.field} value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        </label>
      </div>
      {isBusy ? <Busy>{t.looking(found.length)}</Busy> : <p class="faint">{isCut ? t.first(found.length) : t.found(found.length)}</p>}
      {problems > 0 && (
        <Notice icon="warning" kind="bad">
          {texts.search.damaged(problems)}
        </Notice>
      )}
      {error !== null && (
        <Notice icon="warning" kind="bad">
          <p>{t.failed}</p>
          <p>{error}</p>
        </Notice>
      )}
      {!isBusy && error === null && found.length === 0 && <Empty icon="check" title={t.none} />}
      {folders.map(([folder, some]) => (
        <section class="card difference-folder" key={folder}>
          <h2>
            <Icon name="folder" class="folder" /> <Name text={folder || '/'} />
          </h2>
          <ul>
            {some.map((one) => (
              <Row key={one.path} one={one} before={before} after={after} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const KINDS: Change[] = ['added', 'removed', 'modified']
/** So many differences are shown. */
const MOST = 2000
/** How often what was found is shown, in milliseconds. */
const SHOW_INTERVAL = 200

function useDifferences(session: Session, before: Archive, after: Archive) {
  const [found, setFound] = useState<Found[]>([])
  const [state, setState] = useState({ isBusy: true, isCut: false, problems: 0, error: null as string | null })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const load = async () => {
      const all: Found[] = []
      let shownAt = performance.now()
      const onProblem = (_: PortaborgError) => setState((now) => ({ ...now, problems: now.problems + 1 }))
      for await (const one of compare(session.repo, before, after, { signal, onProblem })) {
        all.push(one)
        if (performance.now() - shownAt > SHOW_INTERVAL) {
          setFound([...all])
          shownAt = performance.now()
        }
        if (all.length >= MOST) {
          setState((now) => ({ ...now, isCut: true }))
          break
        }
      }
      setFound(all)
    }
    load()
      .catch((error: Error) => signal.aborted || setState((now) => ({ ...now, error: error.message })))
      .finally(() => signal.aborted || setState((now) => ({ ...now, isBusy: false })))
    return () => controller.abort()
  }, [before.id, after.id])
  return { found, ...state }
}

/** Differences by the folder that they are in, in the order of their paths. */
function byFolder(all: Found[]): [string, Found[]][] {
  const folders = new Map<string, Found[]>()
  for (const one of all) {
    const folder = one.path.slice(0, Math.max(0, one.path.length - baseName(one.path).length - 1))
    const some = folders.get(folder)
    if (some) some.push(one)
    else folders.set(folder, [one])
  }
  return [...folders].sort(([a], [b]) => (a < b ? -1 : 1))
}

function Side({ archive: { name, time } }: { archive: Archive }) {
  return (
    <span>
      <Name text={name} class="strong" /> <span class="faint">{time ? moment(time, true) : ''}</span>
    </span>
  )
}

function Row({ one: { path, change, changes, a, b }, before, after }: { one: Found; before: Archive; after: Archive }) {
  const t = texts.difference
  const item = b ?? a
  if (!item) return null
  const archive = b ? after : before
  const open = () => go({ name: 'files', archive, folder: parentOf(pathOf(item)), selected: itemKey(item) })
  return (
    <li class={`difference-row ${change}`}>
      <button type="button" class="difference-open" onClick={open}>
        <Icon name={iconOf(item)} class={item.type === 'directory' ? 'folder' : ''} />
        <Name text={baseName(path)} class="grow" />
        <span class="faint">{sizes(a, b)}</span>
        <span class={`chip ${change}`} title={changes.map(({ type }) => type).join(', ')}>
          {t.changes[change]}
        </span>
      </button>
      <Button kind="quiet" icon="clock" label={texts.search.versions(plain(path))} onClick={() => go({ name: 'versions', path: pathOf(item), from: archive })} />
    </li>
  )
}

/** What became of the length. */
function sizes(a: Item | undefined, b: Item | undefined): string {
  const [from, to] = [a, b].map((item) => (item?.type === 'file' ? size(item.size) : undefined))
  if (from !== undefined && to !== undefined && a?.size !== b?.size) return `${from} → ${to}`
  return to ?? from ?? ''
}
