// A picture. An SVG in an img element can neither run scripts nor load anything.

import type { Archive, Item } from 'portaborg'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts'
import { size } from '../ui/format'
import { plain } from '../ui/name'
import { Busy } from '../ui/parts'
import { Broken } from './broken'
import { head } from './read'

export function Picture({ archive, item, type }: { archive: Archive; item: Item; type: string }) {
  const t = texts.preview
  const [url, setUrl] = useState<string | null>(null)
  const [facts, setFacts] = useState('')
  const [error, setError] = useState<unknown>(null)
  const isLong = item.size > LONGEST
  useEffect(() => {
    if (isLong) return
    const controller = new AbortController()
    let made: string | undefined
    const load = async () => {
      const { bytes, error } = await head(archive, item, item.size, controller.signal)
      setError(error)
      setUrl((made = URL.createObjectURL(new Blob([bytes], { type }))))
    }
    load().catch(() => {}) // nobody looks any more
    return () => {
      controller.abort()
      if (made) URL.revokeObjectURL(made)
    }
  }, [archive, item])
  if (isLong) return <p class="preview-note faint">{t.tooLong(size(LONGEST))}</p>
  return (
    <>
      {error !== null && <Broken error={error} />}
      {!url ? (
        <Busy>{t.loading}</Busy>
      ) : (
        <>
          <img
            class="preview-picture"
            src={url}
            alt={t.picture(plain(item.path))}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setFacts(`${naturalWidth} × ${naturalHeight}`)}
            onError={() => setFacts(t.noPicture)}
          />
          <p class="faint preview-facts">{facts}</p>
        </>
      )}
    </>
  )
}

/** In bytes. */
const LONGEST = 64_000_000
