// A repository with a large chunk index: `node index.mjs REPOSITORY CHUNKS BYTES_PER_CHUNK`. What is wrong is printed. With `TIMES`,
// what it took is told, too. The module is used without its worker, so that its memory can be seen.

import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { sources } from 'portaborg'
import init, { Repository } from './node_modules/portaborg/module.js'

const [folder, chunks, most] = process.argv.slice(2)
const { memory } = await init({ module_or_path: await readFile('node_modules/portaborg/module_bg.wasm') })
const source = await sources.directory(folder)
const before = memory.buffer.byteLength
const began = performance.now()
const passphrase = new TextEncoder().encode(process.env.BORG_PASSPHRASE)
const repo = await Repository.open(source, undefined, undefined, undefined, passphrase, undefined)
const bytes = memory.buffer.byteLength
const told = `an index of ${chunks} chunks: ${(bytes / 1e6).toFixed()} MB, ${(before / 1e6).toFixed()} of them at first`
if (bytes - before > chunks * most) console.log(told)
else if (process.env.TIMES) console.error(`${told}, ${((performance.now() - began) / 1000).toFixed(1)} s`)
if (JSON.parse(await repo.archives(false)).some(({ problem }) => problem)) console.log('an archive has a problem')
