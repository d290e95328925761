// Text, with whatever is invisible in it made visible; a page of HTML can be looked at as one.

import { useState } from 'preact/hooks'
import { texts } from '../texts'
import { Button } from '../ui/parts'
import type { Decoded } from './encoding'

export function Text({ decoded, name }: { decoded: Decoded; name: string }) {
  const t = texts.preview
  const isPage = /\.(x?html?)$/i.test(name)
  const [asPage, setAsPage] = useState(false)
  const lines = decoded.text.split('\n').length
  return (
    <>
      {asPage ? (
        <iframe class="preview-frame" sandbox="" srcdoc={decoded.text} title={t.page} referrerpolicy="no-referrer" />
      ) : (
        <pre class="preview-text" tabIndex={0} aria-label={t.text}>
          {visible(decoded.text)}
        </pre>
      )}
      <p class="faint preview-facts">
        {decoded.encoding} · {t.lines(lines)}
        {isPage && (
          <Button kind="quiet" pressed={asPage} onClick={() => setAsPage(!asPage)}>
            {t.asPage}
          </Button>
        )}
      </p>
    </>
  )
}

/** Control characters, and what turns the direction of text round, as their numbers. */
function visible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => `‹U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}›`)
}
