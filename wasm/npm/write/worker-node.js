// The worker that writes, in Node.

import { parentPort } from 'node:worker_threads'
import { DirectoryStore } from './directory.js'
import { serve } from './service.js'

serve(
  {
    postMessage: (message) => parentPort.postMessage(message),
    onMessage: (take) => parentPort.on('message', take),
  },
  { load: (wasm) => wasm, stores: { directory: DirectoryStore } },
)
