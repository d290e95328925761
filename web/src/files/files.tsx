// The files of an archive: one folder of it at a time, and what is to be known of one item.

import { signal, useSignalEffect } from '@preact/signals'
import type { Archive, Item } from 'portaborg'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isWithin, itemKey, keyOf, pathOf, parentOf, type Path } from '../path'
import { BasketBar } from '../restore/basket-bar'
import { restore } from '../restore/tray'
import { go, remember } from '../screens'
import { canCompare } from '../search/compare'
import type { Session } from '../session'
import { texts } from '../texts'
import { ago, moment } from '../ui/format'
import { Name } from '../ui/name'
import { Button, Dialog, Empty, Heading, Notice, Refusal } from '../ui/parts'
import { CheckBar } from '../verify/check-bar'
import { Crumbs } from './crumbs'
import { Folder, type Order } from './folder'
import { Grid } from './grid'
import { Panel } from './panel'

interface FilesProps {
  session: Session
  archive: Archive
  folder: Path
  selected?: string
}

const order = signal<Order>({ by: 'name', isDescending: false })

export function Files({ session, archive, folder: path, selected }: FilesProps) {
  const t = texts.files
  const folder = useMemo(() => new Folder(archive, path, order.value), [archive, keyOf(path), order.value])
  const basket = session.basket(archive)
  const marks = session.marks(archive)
  const [shown, setShown] = useState<Item | null>(null)
  const [showsKeys, setShowsKeys] = useState(false)
  const grid = useRef<HTMLDivElement>(null)
  useEffect(() => () => folder.close(), [folder])
  useEffect(() => setShown(null), [keyOf(path)])
  useEffect(() => {
    // A small archive is looked through at once, a longer one when somebody wants it.
    const isNear = session.place.kind !== 'http' && archive.size <= CHECKED_UNASKED
    if (isNear && marks.state.value === 'unknown') void marks.check()
  }, [archive])
  useSignalEffect(() => {
    for (const problem of folder.problems.value) marks.addProblem(problem)
  })

  const open = (item: Item) => {
    if (item.type !== 'directory') return setShown(item)
    remember({ name: 'files', archive, folder: path, selected: itemKey(item) })
    go({ name: 'files', archive, folder: pathOf(item) })
  }
  const up = () => {
    if (path.bytes.length > 0) go({ name: 'files', archive, folder: parentOf(path), selected: keyOf(path) })
  }
  const keys = (event: KeyboardEvent) => {
    const isTyping = (event.target as HTMLElement).closest?.('input:not([type=checkbox]), textarea, select, dialog')
    if (isTyping || event.ctrlKey || event.metaKey) return
    if (event.key === 'Escape' && shown) setShown(null)
    else if (event.key === 'Backspace' || (event.altKey && event.key === 'ArrowUp')) up()
    else if (event.key === '/') go({ name: 'search', archive })
    else if (event.key === '?') setShowsKeys(true)
    else return
    event.preventDefault()
  }
  useEffect(() => {
    addEventListener('keydown', keys)
    return () => removeEventListener('keydown', keys)
  })
  const listProblems = marks.list.value
  const total = folder.total.value

  return (
    <div class={`files-page ${shown ? 'with-panel' : ''}`}>
      <div class="files-main">
        <div class="files-head">
          <Crumbs archive={archive} path={path} />
          <div class="title">
            <Heading quiet>{path.text ? <Name text={path.text.slice(path.text.lastIndexOf('/') + 1)} /> : <Name text={archive.name} />}</Heading>
            <p class="faint">
              {path.text === '' && archive.time && `${moment(archive.time, true)} · ${ago(archive.time)} · `}
              {total === undefined ? t.loading : t.items(total)}
            </p>
            <div class="title-actions">
              <Button icon="search" label={t.searchHere} onClick={() => go({ name: 'search', archive })} />
              <Compare session={session} archive={archive} />
              <Button icon="help" label={t.keys} class="wide-only" onClick={() => setShowsKeys(true)} />
              <Button icon="download" onClick={() => restore(archive, [{ key: keyOf(path), path, isFolder: true }])}>
                {path.text === '' ? t.restoreAll : t.restoreFolder}
              </Button>
            </div>
          </div>
          <CheckBar marks={marks} />
          {listProblems.length > 0 && (
            <Notice icon="warning" kind="bad">
              <p>{t.listDamaged}</p>
              <ul>
                {listProblems.slice(0, 5).map(({ message }) => (
                  <li>
                    <Name text={message} />
                  </li>
                ))}
              </ul>
            </Notice>
          )}
        </div>
        {folder.error.value ? (
          <Refusal advice={{ title: t.failed, text: String((folder.error.value as Error).message ?? folder.error.value) }} />
        ) : total === 0 ? (
          <Empty icon="folder" title={t.empty} />
        ) : (
          <Grid
            gridRef={grid}
            folder={folder}
            basket={basket}
            marks={marks}
            selected={selected}
            shown={shown ? itemKey(shown) : undefined}
            onOpen={open}
            onShow={setShown}
            onOrder={(by) => (order.value = { by, isDescending: order.value.by === by ? !order.value.isDescending : by !== 'name' })}
          />
        )}
        <BasketBar basket={basket} onGo={(path) => go({ name: 'files', archive, folder: path })} />
      </div>
      {shown && isWithin(keyOf(path), itemKey(shown)) && (
        <Panel
          key={itemKey(shown)}
          item={shown}
          archive={archive}
          basket={basket}
          mark={marks.files.value.get(shown.path)}
          onClose={() => {
            setShown(null)
            grid.current?.focus()
          }}
        />
      )}
      {showsKeys && (
        <Dialog title={t.keys} onClose={() => setShowsKeys(false)}>
          <dl class="keys">
            {t.keyList.map(([key, meaning]) => (
              <div>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </div>
  )
}

/** In bytes: what is read in a moment from a disk. */
const CHECKED_UNASKED = 64_000_000

/** Chooses another archive to compare this one with: those of the same series first. */
function Compare({ session, archive }: { session: Session; archive: Archive }) {
  const t = texts.files
  const usable = session.archives.value.filter(({ id, problem }) => id !== archive.id && !problem).reverse()
  if (usable.length === 0 || !canCompare(session.repo)) return null
  const isSeries = (other: Archive) => other.name === archive.name && other.hostname === archive.hostname
  const label = ({ name, time }: Archive) => `${name} – ${time ? moment(time) : ''}`
  const options = (some: Archive[]) => some.map((other) => <option value={other.id}>{label(other)}</option>)
  const choose = (id: string) => {
    const other = session.find(id)
    if (!other) return
    const [before, after] = (other.time ?? 0) < (archive.time ?? 0) ? [other, archive] : [archive, other]
    go({ name: 'difference', before, after })
  }
  return (
    <label class="select-button" title={t.compare}>
      <span class="hidden-text">{t.compare}</span>
      <select value="" onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{t.compareShort}</option>
        <optgroup label={t.sameSeries}>{options(usable.filter(isSeries))}</optgroup>
        <optgroup label={t.otherSeries}>{options(usable.filter((other) => !isSeries(other)))}</optgroup>
      </select>
    </label>
  )
}

