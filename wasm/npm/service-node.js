// The worker's side in Node.

import { parentPort } from 'node:worker_threads'
import { FolderStore } from './item-cache/folder.js'
import { serve } from './service.js'
import { DirectorySource } from './sources/directory.js'

export function serveNode(glue) {
  const port = {
    postMessage: (message, transfer) => parentPort.postMessage(message, transfer),
    onMessage: (take) => parentPort.on('message', take),
  }
  serve(port, glue, { sources: { directory: DirectorySource }, itemStore: (folder) => new FolderStore(folder) })
}
