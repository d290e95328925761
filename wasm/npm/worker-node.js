// The worker in Node.

import { parentPort } from 'node:worker_threads'
import { FolderStore } from './item-cache/folder.js'
import { serve } from './service.js'
import { DirectorySource } from './sources/directory.js'

serve(
  {
    postMessage: (message, transfer) => parentPort.postMessage(message, transfer),
    onMessage: (take) => parentPort.on('message', take),
  },
  { load: (wasm) => wasm, sources: { directory: DirectorySource }, itemStore: (folder) => new FolderStore(folder) },
)
