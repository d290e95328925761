// Every screen, in all sizes and colours: pictures for people, and what a program can tell of what hinders them.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shoot } from '../shots.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const looks = Object.fromEntries(
  ['wide', 'phone'].flatMap((size) =>
    ['light', 'dark'].map((scheme) => [
      `${size} ${scheme}`,
      async ({ browser, url }) => {
        const folder = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'portaborg-shots-'))
        const wrong = []
        await shoot(browser, url, folder, { size, scheme }, async (page, name) => {
          wrong.push(...(await hindrances(page)).map((text) => `${name}: ${text}`))
          const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
          if (isTooWide) wrong.push(`${name}: it is wider than the window`)
        })
        if (wrong.length > 0) throw new Error([...new Set(wrong)].join('\n'))
      },
    ]),
  ),
)

/** What axe finds. The page's policy forbids to add scripts to it, so that it comes through the debugger. */
async function hindrances(page) {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(' AND ')}`)
  })
  return found
}
