// Search as one types: in one archive, or in all of them, the newest first.

import { signal } from '@preact/signals'
import type { Archive, Hit, Item, PortaborgError } from 'portaborg'
import { useEffect, useRef } from 'preact/hooks'
import { iconOf } from '../files/kinds'
import { baseName, itemKey, parentOf, pathOf } from '../path'
import { go } from '../screens'
import type { Session } from '../session'
import { texts } from '../texts'
import { dateOf, moment, size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name, plain } from '../ui/name'
import { Busy, Button, Empty, Heading, Notice } from '../ui/parts'

/** What was found under one path: newest archive first. */
interface Found {
  key: string
  item: Item
  archives: Archive[]
}

const wanted = signal('')
const found = signal<Found[]>([])
const isBusy = signal(false)
const isCut = signal(false)
const problems = signal<PortaborgError[]>([])
/** The archive that is looked through; all if there is none. */
const within = signal<string>('')
/** What was last looked for, and where, so that one may come back to it. */
const last = signal('')

export function Search({ session, archive }: { session: Session; archive?: Archive | undefined }) {
  const t = texts.search
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (archive) within.value = archive.id
    field.current?.focus()
  }, [archive])
  useEffect(() => {
    if (asked() === last.value) return
    const timer = setTimeout(() => void look(session), TYPING)
    return () => clearTimeout(timer)
  }, [wanted.value, within.value])
  const isLong = wanted.value.trim().length > 0
  const isWaiting = asked() !== last.value
  const usable = session.archives.value.filter(({ problem }) => !problem).reverse()
  return (
    <div class="page search">
      <div class="title">
        <Heading quiet>{t.title}</Heading>
      </div>
      <div class="toolbar">
        <label class="search-field large">
          <Icon name="search" />
          <span class="hidden-text">{t.field}</span>
          <input ref={field} type="search" autocomplete="off" spellcheck={false} placeholder={t.field} value={wanted.value} onInput={(event) => (wanted.value = event.currentTarget.value)} />
        </label>
        <label class="select-field">
          <span class="hidden-text">{t.where}</span>
          <select value={within.value} onChange={(event) => (within.value = event.currentTarget.value)}>
            <option value="">{t.everywhere}</option>
            {usable.map(({ id, name, time }) => (
              <option value={id}>
                {plain(name)} – {time ? moment(time) : ''}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="search-state" role="status">
        {isBusy.value || (isLong && isWaiting) ? (
          <span class="row">
            <Busy>{t.looking(found.value.length)}</Busy>
            <Button kind="quiet" onClick={stop}>
              {texts.stop}
            </Button>
          </span>
        ) : isLong ? (
          <span class="faint">{isCut.value ? t.first(found.value.length) : t.found(found.value.length)}</span>
        ) : (
          <span class="faint">{t.hint}</span>
        )}
      </p>
      {problems.value.length > 0 && (
        <Notice icon="warning" kind="bad">
          {t.damaged(problems.value.length)}
        </Notice>
      )}
      {isLong && !isBusy.value && !isWaiting && found.value.length === 0 && <Empty icon="search" title={t.none} />}
      {found.value.length > 0 && (
        <ul class="hits card">
          {found.value.map((hit) => (
            <Row key={hit.key} hit={hit} text={wanted.value.trim()} />
          ))}
        </ul>
      )}
    </div>
  )
}

function Row({ hit: { item, archives }, text }: { hit: Found; text: string }) {
  const t = texts.search
  const [newest] = archives
  if (!newest) return null
  const folder = item.path.slice(0, -baseName(item.path).length - 1)
  const date = dateOf(item.mtimeNs)
  const open = () =>
    item.type === 'directory'
      ? go({ name: 'files', archive: newest, folder: pathOf(item) })
      : go({ name: 'files', archive: newest, folder: parentOf(pathOf(item)), selected: itemKey(item) })
  return (
    <li class="hit">
      <button type="button" class="hit-open" onClick={open}>
        <Icon name={iconOf(item)} class={item.type === 'directory' ? 'folder' : ''} />
        <span class="hit-name">
          <Marked text={baseName(item.path)} wanted={text} />
          <span class="faint hit-folder">
            <Marked text={folder || '/'} wanted={text} />
          </span>
        </span>
        <span class="hit-size">{item.type === 'file' && size(item.size)}</span>
        <span class="hit-time">{date && moment(date)}</span>
        <span class="faint hit-archives">{archives.length > 1 ? t.inArchives(archives.length) : <Name text={newest.name} />}</span>
      </button>
      <Button kind="quiet" icon="clock" label={t.versions(plain(item.path))} onClick={() => go({ name: 'versions', path: pathOf(item), from: newest })} />
    </li>
  )
}

/** A name in which what was looked for stands out. */
function Marked({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted ? text.toLowerCase().indexOf(wanted.toLowerCase()) : -1
  if (at < 0) return <Name text={text} />
  return (
    <span>
      <Name text={text.slice(0, at)} />
      <mark>
        <Name text={text.slice(at, at + wanted.length)} />
      </mark>
      <Name text={text.slice(at + wanted.length)} />
    </span>
  )
}

function asked(): string {
  return `${within.value}\n${wanted.value.trim()}`
}

let looking: AbortController | null = null

function stop() {
  looking?.abort()
  isBusy.value = false
}

async function look(session: Session): Promise<void> {
  looking?.abort()
  const { signal } = (looking = new AbortController())
  last.value = asked()
  const text = wanted.value.trim()
  found.value = []
  problems.value = []
  isCut.value = false
  isBusy.value = text !== ''
  if (!text) return
  const byKey = new Map<string, Found>()
  let shownAt = performance.now()
  const show = () => {
    found.value = [...byKey.values()]
    shownAt = performance.now()
  }
  try {
    const only = within.value ? { archives: [within.value] } : {}
    const onProblem = (problem: PortaborgError) => (problems.value = [...problems.value, problem])
    for await (const hit of session.repo.search(text, { ...only, onProblem, signal })) {
      add(byKey, hit)
      if (byKey.size >= MOST) {
        isCut.value = true
        break
      }
      if (byKey.size < FEW || performance.now() - shownAt > SHOW_INTERVAL) show()
    }
  } catch (error) {
    if (signal.aborted) return
    problems.value = [...problems.value, error as PortaborgError]
  }
  if (signal.aborted) return
  show()
  isBusy.value = false
}

function add(byKey: Map<string, Found>, { archive, item }: Hit): void {
  const key = itemKey(item)
  const known = byKey.get(key)
  if (known) known.archives.push(archive)
  else byKey.set(key, { key, item, archives: [archive] })
}

/** In milliseconds: how long nobody types, and how often what was found is shown. */
const TYPING = 180
const SHOW_INTERVAL = 150
/** So many are shown at once, and so many at most. */
const FEW = 20
const MOST = 500
