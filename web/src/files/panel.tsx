// What is to be known of one item: a look into it, and everything that the archive says of it.

import type { Archive, Item } from 'portaborg'
import { useEffect, useRef, useState } from 'preact/hooks'
import { baseName, itemKey, pathOf } from '../path'
import { Preview } from '../preview/preview'
import type { Basket } from '../restore/basket'
import { restore, saveFile } from '../restore/tray'
import { go } from '../screens'
import { texts } from '../texts'
import { exactSize } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Button, Notice } from '../ui/parts'
import type { Mark } from '../verify/marks'
import { Details } from './details'
import { iconOf } from './kinds'

interface PanelProps {
  item: Item
  archive: Archive
  basket: Basket
  mark: Mark | undefined
  onClose: () => void
}

export function Panel({ item, archive, basket, mark, onClose }: PanelProps) {
  const t = texts.panel
  const [shows, setShows] = useState<'preview' | 'details'>(item.type === 'file' ? 'preview' : 'details')
  const key = itemKey(item)
  const { isTicked, within } = basket.state(key)
  const isFile = item.type === 'file'
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a phone the panel covers the list.
    if (matchMedia('(max-width: 900px)').matches) ref.current?.focus()
  }, [])
  return (
    <aside ref={ref} class="panel" tabIndex={-1} aria-label={t.label}>
      <header class="panel-head">
        <Icon name={iconOf(item)} />
        <div class="grow">
          <h2>
            <Name text={baseName(item.path)} />
          </h2>
          <p class="faint">{isFile ? exactSize(item.size) : texts.types[item.type]}</p>
        </div>
        <Button kind="quiet" icon="close" label={texts.close} onClick={onClose} />
      </header>
      <div class="actions">
        {isFile ? (
          <Button kind="primary" icon="download" onClick={() => void saveFile(archive, item)}>
            {t.save}
          </Button>
        ) : (
          item.type === 'directory' && (
            <Button kind="primary" icon="download" onClick={() => restore(archive, [{ key, path: pathOf(item), isFolder: true }])}>
              {t.restore}
            </Button>
          )
        )}
        <Button icon="basket" pressed={isTicked} disabled={within !== undefined} onClick={() => basket.toggle(item)}>
          {isTicked ? t.inBasket : t.toBasket}
        </Button>
        <Button icon="clock" onClick={() => go({ name: 'versions', path: pathOf(item), from: archive })}>
          {t.versions}
        </Button>
      </div>
      {mark && (
        <Notice icon="warning" kind="bad">
          <p>{t.damaged(mark.broken)}</p>
          <ul class="parts">
            {mark.parts.slice(0, MOST_PARTS).map(({ offset, size }) => (
              <li>{t.part(offset, size)}</li>
            ))}
          </ul>
          <p class="faint">
            <Name text={mark.problem.message} />
          </p>
        </Notice>
      )}
      {isFile && (
        <div class="segmented" role="group" aria-label={t.shows}>
          <Button pressed={shows === 'preview'} onClick={() => setShows('preview')}>
            {t.preview}
          </Button>
          <Button pressed={shows === 'details'} onClick={() => setShows('details')}>
            {t.details}
          </Button>
        </div>
      )}
      {shows === 'preview' ? <Preview archive={archive} item={item} /> : <Details item={item} />}
    </aside>
  )
}

const MOST_PARTS = 5
