// The basket, as a bar below the files: what was ticked, how much it is, and what to do with it.

import { useState } from 'preact/hooks'
import { parentOf, type Path } from '../path'
import { texts } from '../texts'
import { size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name, plain } from '../ui/name'
import { Button, Dialog } from '../ui/parts'
import type { Basket } from './basket'
import { restore } from './tray'

export function BasketBar({ basket, onGo }: { basket: Basket; onGo: (folder: Path) => void }) {
  const t = texts.basket
  const [isOpen, setOpen] = useState(false)
  const ticked = [...basket.ticked.value.values()]
  if (ticked.length === 0) return null
  const { items, bytes, isCounting } = basket.total.value
  return (
    <section class="basket" aria-label={t.label}>
      <Icon name="basket" />
      <p class="grow" role="status">
        <span class="strong">{t.ticked(ticked.length)}</span>
        <span class="faint">{isCounting ? t.counting : t.sum(items, size(bytes))}</span>
      </p>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        {t.show}
      </Button>
      <Button kind="quiet" onClick={() => basket.clear()}>
        {t.clear}
      </Button>
      <Button kind="primary" icon="download" onClick={() => restore(basket.archive, ticked)}>
        {t.restore}
      </Button>
      {isOpen && (
        <Dialog title={t.title} onClose={() => setOpen(false)}>
          <ul class="basket-list">
            {ticked.map(({ key, path, isFolder, sum }) => (
              <li>
                <Icon name={isFolder ? 'folder' : 'file'} />
                <button
                  type="button"
                  class="more grow"
                  onClick={() => {
                    setOpen(false)
                    onGo(isFolder ? path : parentOf(path))
                  }}
                >
                  <Name text={path.text || basket.archive.name} />
                </button>
                <span class="faint">{sum ? size(sum.bytes) : t.counting}</span>
                <Button kind="quiet" icon="close" label={t.remove(plain(path.text))} onClick={() => basket.remove(key)} />
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </section>
  )
}
