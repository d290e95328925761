// Two archives compared.

import type { Archive } from 'portaborg'
import type { Session } from '../session'

export function Difference(_: { session: Session; before: Archive; after: Archive }) {
  return null
}
