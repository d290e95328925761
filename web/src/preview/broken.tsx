// Why a look into a file ends where it does.

import { texts } from '../texts'
import { Notice } from '../ui/parts'

/** Says that a part can't be had. */
export function Broken({ error }: { error: unknown }) {
  return (
    <Notice icon="warning" kind="bad">
      <p>{texts.preview.broken}</p>
      <p class="faint">{error instanceof Error ? error.message : String(error)}</p>
    </Notice>
  )
}
