// The list of a folder: a grid of which only what is in sight exists, that the keyboard moves in.

import type { Item, Sort } from 'portaborg'
import { useEffect, useRef, useState } from 'preact/hooks'
import { baseName, itemKey } from '../path'
import type { Basket } from '../restore/basket'
import { texts } from '../texts'
import { dateOf, exact, exactSize, moment, size, zone } from '../ui/format'
import { Icon } from '../ui/icon'
import { memo } from '../ui/memo'
import { Name, plain } from '../ui/name'
import { useVirtual } from '../ui/virtual'
import type { Marks } from '../verify/marks'
import type { Folder } from './folder'
import { iconOf } from './kinds'

interface GridProps {
  gridRef: { current: HTMLDivElement | null }
  folder: Folder
  basket: Basket
  marks: Marks
  /** What to begin at. */
  selected?: string | undefined
  /** What the panel beside the list shows. */
  shown: string | undefined
  onOpen: (item: Item) => void
  onShow: (item: Item) => void
  onOrder: (by: Sort) => void
}

export function Grid({ gridRef, folder, basket, marks, selected, shown, onOpen, onShow, onOrder }: GridProps) {
  const t = texts.files
  const total = folder.total.value ?? 0
  const [active, setActive] = useState(0)
  const rowHeight = useRowHeight()
  const scroller = useVirtual(total, rowHeight, HEAD_HEIGHT, folder)
  const { first, end, top, height, spacer, page } = scroller
  folder.version.value // what has come is drawn

  useEffect(() => folder.want(first, Math.max(first, end - 1)), [folder, first, end, total])
  useEffect(() => {
    const place = selected === undefined ? 0 : (folder.placeOf(selected) ?? 0)
    setActive(place)
    if (place > 0) scroller.reveal(place)
    if (!document.activeElement || document.activeElement === document.body) gridRef.current?.focus({ preventScroll: true })
  }, [folder, folder.total.value === undefined])

  const act = useRef<Actions>({ toActive: setActive, open: onOpen, show: onShow, tick: (item) => basket.toggle(item) })
  Object.assign(act.current, { open: onOpen, show: onShow, tick: (item: Item) => basket.toggle(item) })

  const move = (to: number) => {
    const place = Math.min(Math.max(0, to), total - 1)
    setActive(place)
    scroller.reveal(place)
    const item = folder.at(place)
    if (shown !== undefined && item && item.type !== 'directory') onShow(item)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const item = folder.at(active)
    const action = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Home: () => move(0),
      End: () => move(total - 1),
      Enter: () => item && onOpen(item),
      ArrowRight: () => item?.type === 'directory' && onOpen(item),
      ArrowLeft: () => dispatchEvent(new KeyboardEvent('keydown', { key: 'Backspace' })),
      ' ': () => item && basket.toggle(item),
      i: () => item && onShow(item),
    }[event.key]
    if (!action || (event.target as HTMLElement).closest('button')) return
    event.preventDefault()
    event.stopPropagation()
    action()
  }
  const isReady = folder.total.value !== undefined
  return (
    <div
      ref={(element) => {
        scroller.ref.current = element
        gridRef.current = element
      }}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={t.list}
      aria-rowcount={total + 1}
      aria-colcount={5}
      aria-multiselectable
      aria-busy={!isReady}
      aria-activedescendant={active >= first && active < end ? rowId(active) : undefined}
      onScroll={scroller.onScroll}
      onKeyDown={keys}
    >
      <div role="rowgroup" class="grid-top">
        <div role="row" class="grid-row grid-head" aria-rowindex={1}>
          <span role="columnheader" class="cell-tick">
            <span class="hidden-text">{t.columns.tick}</span>
          </span>
          <Column by="name" folder={folder} onOrder={onOrder} />
          <Column by="size" folder={folder} onOrder={onOrder} />
          <Column by="mtime" folder={folder} onOrder={onOrder} title={t.inZone(zone)} />
          <span role="columnheader" class="cell-info">
            <span class="hidden-text">{t.columns.details}</span>
          </span>
        </div>
      </div>
      <div class="grid-spacer" role="presentation" style={{ height: `${spacer}px` }}>
        <div class="grid-layer" role="rowgroup" style={{ height: `${Math.min(height, Math.max(spacer, rowHeight))}px`, top: `${HEAD_HEIGHT}px` }}>
          <div class="grid-rows" role="presentation" style={{ transform: `translateY(${first * rowHeight - top}px)` }}>
            {Array.from({ length: isReady ? end - first : WAITING }, (_, number) => {
              const place = first + number
              const item = folder.at(place)
              if (!item) return <Waiting key={place} place={place} />
              const key = itemKey(item)
              const { isTicked, within } = basket.state(key)
              const isFolder = item.type === 'directory'
              return (
                <Row
                  key={place}
                  item={item}
                  place={place}
                  isTicked={isTicked}
                  within={within}
                  damaged={isFolder ? marks.folders.value.get(item.path) : marks.files.value.has(item.path) ? 1 : undefined}
                  isActive={place === active}
                  isShown={key === shown}
                  act={act.current}
                />
              )
            })}
          </div>
        </div>
      </div>
    </div>
  )
}

/** Rows that stand for those that have not come. */
const WAITING = 12
/** In pixels; the style sheet says the same. */
const HEAD_HEIGHT = 36
const ROW_HEIGHT = 40
const TOUCH_ROW_HEIGHT = 56

/** Rows of a phone have two lines. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const change = () => setNarrow(narrow.matches)
    narrow.addEventListener('change', change)
    return () => narrow.removeEventListener('change', change)
  }, [])
  return isNarrow ? TOUCH_ROW_HEIGHT : ROW_HEIGHT
}

const narrow = matchMedia('(max-width: 640px)')

const rowId = (place: number) => `row-${place}`

function Column({ by, folder, onOrder, title }: { by: Sort; folder: Folder; onOrder: (by: Sort) => void; title?: string }) {
  const { order } = folder
  const isHere = order.by === by
  return (
    <span role="columnheader" class={`cell-${by}`} aria-sort={isHere ? (order.isDescending ? 'descending' : 'ascending') : 'none'} title={title}>
      <button type="button" onClick={() => onOrder(by)}>
        {texts.files.columns[by]}
        {isHere && <Icon name={order.isDescending ? 'down' : 'up'} />}
      </button>
    </span>
  )
}

const Waiting = memo(({ place }: { place: number }) => (
  <div role="row" class="grid-row waiting" aria-rowindex={place + 2}>
    <span role="gridcell" class="cell-tick" />
    <span role="gridcell" class="cell-name">
      <span class={`bone w${place % 5}`}>
        <span class="hidden-text">{texts.files.loading}</span>
      </span>
    </span>
  </div>
))

/** What can be done with a row. */
interface Actions {
  toActive: (place: number) => void
  open: (item: Item) => void
  show: (item: Item) => void
  tick: (item: Item) => void
}

interface RowProps {
  item: Item
  place: number
  isTicked: boolean
  /** The folder in the basket that it comes with. */
  within: string | undefined
  /** How many damaged files there are. */
  damaged: number | undefined
  isActive: boolean
  isShown: boolean
  act: Actions
}

const Row = memo(({ item, place, isTicked, within, damaged, isActive, isShown, act }: RowProps) => {
  const t = texts.files
  const name = baseName(item.path)
  const date = dateOf(item.mtimeNs)
  const isFolder = item.type === 'directory'
  const hint = damaged === undefined ? '' : isFolder ? t.damagedInside(damaged) : t.damaged
  return (
    <div
      id={rowId(place)}
      role="row"
      class={`grid-row ${isActive ? 'active' : ''} ${isShown ? 'shown' : ''} ${isTicked ? 'ticked' : ''}`}
      aria-rowindex={place + 2}
      aria-selected={isTicked}
      onClick={(event) => {
        act.toActive(place)
        if (!(event.target as HTMLElement).closest('.cell-tick, .cell-info')) act.open(item)
      }}
    >
      <span role="gridcell" class="cell-tick">
        <label>
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isTicked}
            disabled={within !== undefined}
            title={within === undefined ? undefined : t.tickedWithin(plain(within))}
            aria-label={t.tick(plain(name))}
            onChange={() => act.tick(item)}
          />
        </label>
      </span>
      <span role="gridcell" class="cell-name" title={plain(name)}>
        <Icon name={iconOf(item)} class={isFolder ? 'folder' : ''} />
        <span class="name">
          <Name text={name} isWhole />
          {item.type === 'symlink' && (
            <span class="faint">
              {' → '}
              <Name text={item.target ?? ''} />
            </span>
          )}
        </span>
        {hint && (
          <span class="damage" title={hint}>
            <Icon name="warning" />
            <span class="hidden-text">{hint}</span>
            {isFolder && damaged}
          </span>
        )}
      </span>
      <span role="gridcell" class="cell-size" title={isFolder ? undefined : exactSize(item.size)}>
        {item.type === 'file' ? size(item.size) : ''}
      </span>
      <span role="gridcell" class="cell-mtime" onMouseEnter={({ currentTarget }) => (currentTarget.title = date ? exact(item.mtimeNs) : '')}>
        {date ? moment(date) : ''}
      </span>
      <span role="gridcell" class="cell-info">
        <button type="button" tabIndex={-1} aria-label={t.details(plain(name))} onClick={() => act.show(item)}>
          <Icon name="info" />
        </button>
      </span>
    </div>
  )
})
