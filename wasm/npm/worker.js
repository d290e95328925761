// The worker in browsers.

import { OriginStore } from './item-cache/origin.js'
import { serve } from './service.js'

serve(
  {
    postMessage: (message, transfer) => self.postMessage(message, transfer ?? []),
    onMessage: (take) => self.addEventListener('message', ({ data }) => take(data)),
  },
  { load: (wasm) => wasm, itemStore: (name) => OriginStore.of(name) },
)
