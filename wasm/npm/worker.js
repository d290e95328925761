// The worker in browsers.

import { serve } from './service.js'

serve(
  {
    postMessage: (message, transfer) => self.postMessage(message, transfer ?? []),
    onMessage: (take) => self.addEventListener('message', ({ data }) => take(data)),
  },
  { load: (wasm) => wasm },
)
