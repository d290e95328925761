// The worker that writes, in browsers.

import { HandleStore } from './handle.js'
import { serve } from './service.js'

serve(
  {
    postMessage: (message) => self.postMessage(message),
    onMessage: (take) => self.addEventListener('message', ({ data }) => take(data)),
  },
  { load: (wasm) => wasm, stores: { handle: HandleStore } },
)
