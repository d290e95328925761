// The worker's side in browsers.

import { OriginStore } from './item-cache/origin.js'
import { portOfSelf } from './ports.js'
import { serve } from './service.js'

export function serveBrowser(glue) {
  serve(portOfSelf(), glue, { itemStore: (name) => OriginStore.of(name) })
}
