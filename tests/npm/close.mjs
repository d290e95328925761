// What is left in memory: `node close.mjs REPOSITORY EXPECTED`. What is wrong is printed. A worker's side of the package is run here, so
// that its module's memory can be looked at.

import { readFile } from 'node:fs/promises'
import * as glue from './node_modules/portaborg/module.js'
import { serve } from './node_modules/portaborg/service.js'
import { DirectorySource } from './node_modules/portaborg/sources/directory.js'

const [folder, expectedFile] = process.argv.slice(2)
const { passphrase } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)

let take
let answered
const port = { postMessage: (message) => answered?.(message), onMessage: (onMessage) => (take = onMessage) }
serve(port, glue, { sources: { directory: DirectorySource } })
const module = await readFile(new URL('./node_modules/portaborg/module_bg.wasm', import.meta.url))
const given = new TextEncoder().encode(passphrase)
const opened = await told({ kind: 'call', id: 1, op: 'open', args: [module, { kind: 'directory', args: [folder] }, given, undefined, 1], credits: 2 })
if (opened.kind !== 'done') wrong(`opening: ${JSON.stringify(opened)}`)
if (given.some((byte) => byte !== 0)) wrong('the passphrase was not wiped where it came from')
const { memory } = await glue.default()
const text = Buffer.from(memory.buffer)
if (text.length < 1 << 20 || !text.includes('aes256-ocb')) wrong('this is not the memory')
if (text.includes(passphrase)) wrong('the passphrase is still there')
if ((await told({ kind: 'close' })).kind !== 'closed') wrong('it was not closed')
if (Buffer.from(memory.buffer).some((byte) => byte !== 0)) wrong('something is left')

function told(message) {
  return new Promise((resolve) => {
    answered = resolve
    take(message)
  })
}
