// A look into a file. Whatever it is, nothing in it is run: text is text, pictures are pictures, and pages get a frame in which
// scripts are forbidden twice, by the frame and by this page's policy.

import type { Archive, Item } from 'portaborg'
import { useEffect, useState } from 'preact/hooks'
import { kindOf } from '../files/kinds'
import { baseName } from '../path'
import { texts } from '../texts'
import { size } from '../ui/format'
import { Busy, Button } from '../ui/parts'
import { Broken } from './broken'
import { guess, type Decoded } from './encoding'
import { Hex } from './hex'
import { Media } from './media'
import { Pdf } from './pdf'
import { Picture } from './picture'
import { head } from './read'
import { Text } from './text'

export function Preview({ archive, item }: { archive: Archive; item: Item }) {
  const t = texts.preview
  const name = baseName(item.path)
  const [asHex, setAsHex] = useState(false)
  const { kind, type } = kindOf(name)
  if (item.size === 0) return <p class="preview-note faint">{t.empty}</p>
  return (
    <div class="preview">
      {asHex ? <Bytes archive={archive} item={item} asHex /> : <Look archive={archive} item={item} kind={kind} type={type} />}
      <Button kind="quiet" icon="code" pressed={asHex} onClick={() => setAsHex(!asHex)}>
        {t.hex}
      </Button>
    </div>
  )
}

function Look({ archive, item, kind, type }: { archive: Archive; item: Item } & ReturnType<typeof kindOf>) {
  switch (kind) {
    case 'image':
      return <Picture archive={archive} item={item} type={type} />
    case 'audio':
    case 'video':
      return <Media archive={archive} item={item} kind={kind} type={type} />
    case 'pdf':
      return <Pdf archive={archive} item={item} />
    default:
      return <Bytes archive={archive} item={item} />
  }
}

/** Text if the bytes are some, digits if they aren't. */
function Bytes({ archive, item, asHex = false }: { archive: Archive; item: Item; asHex?: boolean }) {
  const t = texts.preview
  const [length, setLength] = useState(FIRST_BYTES)
  const [bytes, setBytes] = useState<Uint8Array | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    const controller = new AbortController()
    head(archive, item, length, controller.signal).then(
      ({ bytes, error }) => {
        setBytes(bytes)
        setError(error)
      },
      () => {}, // nobody looks any more
    )
    return () => controller.abort()
  }, [archive, item, length])
  if (!bytes) return <Busy>{t.loading}</Busy>
  const decoded: Decoded | undefined = asHex ? undefined : guess(bytes, bytes.length < item.size)
  return (
    <>
      {error !== null && <Broken error={error} />}
      {bytes.length === 0 ? null : decoded ? <Text decoded={decoded} name={item.path} /> : <Hex bytes={bytes} />}
      {bytes.length < item.size && error === null && (
        <div class="preview-more">
          <p class="faint">{t.part(size(bytes.length), size(item.size))}</p>
          {length < MOST_BYTES && <Button onClick={() => setLength(Math.min(MOST_BYTES, length * 4))}>{t.more}</Button>}
        </div>
      )}
    </>
  )
}

const FIRST_BYTES = 65_536
const MOST_BYTES = 4_194_304
