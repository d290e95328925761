// PDF files: so far they are saved and opened elsewhere.

import type { Archive, Item } from 'portaborg'
import { texts } from '../texts'

export function Pdf(_: { archive: Archive; item: Item }) {
  return <p class="preview-note faint">{texts.preview.pdf}</p>
}
