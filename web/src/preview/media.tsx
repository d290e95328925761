// Sound and films, of which only what is played is read, where the service worker can give them an address.

import type { Archive, Item } from 'portaborg'
import { useEffect, useState } from 'preact/hooks'
import { address, hasAddresses } from '../service/page'
import { texts } from '../texts'
import { size } from '../ui/format'
import { plain } from '../ui/name'
import { Busy } from '../ui/parts'
import { Broken } from './broken'
import { head } from './read'

export function Media({ archive, item, kind, type }: { archive: Archive; item: Item; kind: 'audio' | 'video'; type: string }) {
  const t = texts.preview
  const [url, setUrl] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const isLong = !hasAddresses() && item.size > LONGEST
  useEffect(() => {
    if (isLong) return
    if (hasAddresses()) {
      const headers: [string, string][] = [['Content-Type', type]]
      const made = address({ size: item.size, headers, open: (range) => archive.open(item, range && { range }), onEnd: (end) => end && setError(end) })
      setUrl(made.url)
      return made.revoke
    }
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
  if (!url) return <Busy>{t.loading}</Busy>
  const props = { src: url, controls: true, preload: 'metadata', 'aria-label': plain(item.path), onError: () => setError(new Error(t.noMedia)) } as const
  return (
    <>
      {error !== null && !(error instanceof DOMException) && <Broken error={error} />}
      {kind === 'audio' ? <audio class="preview-audio" {...props} /> : <video class="preview-video" {...props} />}
    </>
  )
}

/** What is held in memory at most, in bytes. */
const LONGEST = 64_000_000
