// Node as a host of a script: `node node.mjs SCRIPT REPOSITORY EXPECTED [KEY]`. EXPECTED is the fixture's JSON, KEY a file with its
// key; `WORKERS` says how many workers there are, `THREADS` of which kind. What is wrong is printed.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { PortaborgError, openRepository, sources } from 'portaborg'

let started = 0
process.on('worker', () => (started += 1))
const [script, folder, expectedFile, keyFile] = process.argv.slice(2)
const { run } = await import(`./${script}`)
const lines = await run({
  openRepository,
  PortaborgError,
  source: () => sources.directory(folder),
  expected: JSON.parse(await readFile(expectedFile, 'utf8')),
  key: keyFile && (await readFile(keyFile, 'utf8')),
  workers: process.env.WORKERS ? Number(process.env.WORKERS) : undefined,
  threads: process.env.THREADS,
  startedWorkers: () => started,
  sha256: async (pieces) => {
    const hash = createHash('sha256')
    for (const piece of pieces) hash.update(piece)
    return hash.digest('hex')
  },
})
for (const line of lines) console.log(line)
