// Drives the built page in a real browser: `node tests/run.mjs [part of a name]...`. For each case a line, `ok NAME` or
// `FAILED NAME: why`; the exit code says whether all were right.
//
// PAGE is the folder of the built page (else target/web), CHROMIUM the browser, SCREENSHOTS a folder into which pictures of every
// screen are taken; without it they are only looked through for what hinders people (axe).

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startBrowser } from './browser.mjs'
import { files } from './cases/files.mjs'
import { find } from './cases/find.mjs'
import { looks } from './cases/looks.mjs'
import { open } from './cases/open.mjs'
import { preview } from './cases/preview.mjs'
import { restore } from './cases/restore.mjs'
import { trust } from './cases/trust.mjs'
import { servePage } from './server.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const page = resolve(process.env.PAGE ?? join(here, '../../target/web'))
const wanted = process.argv.slice(2)
/** How long a case may take, in milliseconds. */
const PATIENCE = 180_000
if (!existsSync(join(page, 'index.html'))) {
  console.log(`FAILED build: there is no page in ${page}`)
  process.exit(1)
}

const cases = Object.entries({ open, files, restore, preview, find, trust, looks }).flatMap(([group, cases]) =>
  Object.entries(cases).map(([name, run]) => [`${group}/${name}`, run]),
)
const chosen = cases.filter(([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
const server = await servePage(page)
const browser = await startBrowser()
let failed = 0
for (const [name, run] of chosen) {
  try {
    await within(run({ browser, url: `${server.url}/` }))
    console.log(`ok ${name}`)
  } catch (error) {
    failed += 1
    console.log(`FAILED ${name}: ${String(error.message ?? error).replace(/\u001b\[\d+m/g, '').split('\n').slice(0, 12).join(' | ')}`)
  }
  for (const context of browser.contexts()) await context.close().catch(() => {})
}
await browser.close()
server.close()
process.exit(failed > 0 ? 1 : 0)

/** No case may hang. */
function within(promise) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error('it takes too long')), PATIENCE).unref())
  return Promise.race([promise, late])
}

