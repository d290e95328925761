// How the page bears a long list: `node tests/million.mjs REPOSITORY PASSPHRASE` opens the latest archive of a repository, goes into
// its first folder, and scrolls. It prints times in milliseconds, tasks longer than 50 ms, and the tab's memory.

import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPage, startBrowser, unlock } from './browser.mjs'
import { servePage, serveRepository } from './server.mjs'

const [repository, passphrase] = process.argv.slice(2)
const here = dirname(fileURLToPath(import.meta.url))
const page = await servePage(resolve(process.env.PAGE ?? join(here, '../../target/web')))
const server = await serveRepository(resolve(repository))
const browser = await startBrowser()
const tab = await openPage(browser, `${page.url}/`)
tab.setDefaultTimeout(120_000)
await tab.getByLabel('Or its address on a server').fill(server.url)
await tab.getByRole('button', { name: 'Open', exact: true }).click()
const say = (what, value) => console.log(what.padEnd(36), value)
const timed = async (what, act) => {
  const began = Date.now()
  await act()
  say(what, `${Date.now() - began} ms`)
}

await timed('passphrase to archives', () => unlock(tab, passphrase))
await timed('archive to its first rows', async () => {
  await tab.locator('.archive-open').first().click()
  await tab.locator('#row-0:not(.waiting) .name').waitFor()
})
await timed('folder to its first rows', async () => {
  await tab.locator('#row-0 .name').click()
  await tab.locator('.crumbs li:nth-child(3)').waitFor()
  await tab.locator('#row-0:not(.waiting) .name').waitFor()
})
say('items', await tab.locator('.title p').innerText())
await tab.waitForTimeout(6000) // what is fetched ahead has come
for (const [what, step, times] of [['wheel', 400, 40], ['dragged', 0, 40]]) {
  const result = await tab.evaluate(
    async ([step, times]) => {
      const long = []
      const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => Math.round(duration))))
      observer.observe({ entryTypes: ['longtask'] })
      const grid = document.querySelector('.grid')
      const layer = document.querySelector('.grid-layer')
      let blank = 0
      for (let number = 1; number <= times; number += 1) {
        grid.scrollTop = step ? grid.scrollTop + step : ((grid.scrollHeight - grid.clientHeight) * number) / times
        await new Promise(requestAnimationFrame)
        await new Promise(requestAnimationFrame)
        const { top, bottom } = layer.getBoundingClientRect()
        const rows = [...layer.querySelectorAll('.grid-row')].map((row) => row.getBoundingClientRect())
        if (!rows.some((row) => row.top <= top + 1) || !rows.some((row) => row.bottom >= bottom - 1)) blank += 1
      }
      observer.disconnect()
      return { blank, long }
    },
    [step, times],
  )
  say(`${what}: blank frames, long tasks`, `${result.blank}, ${JSON.stringify(result.long)}`)
}
await timed('the rows where one has come', () => tab.waitForFunction(() => !document.querySelector('.grid-layer .waiting')))
await tab.locator('.grid').focus()
await timed('the end', async () => {
  await tab.keyboard.press('End')
  await tab.waitForFunction(() => document.querySelector('.grid-row.active .name') && !document.querySelector('.grid-layer .waiting'))
})
const client = await tab.context().newCDPSession(tab)
const { usedSize } = await client.send('Runtime.getHeapUsage')
say('heap of the page', `${Math.round(usedSize / 1e6)} MB`)
await browser.close()
page.close()
server.close()
process.exit(0)
