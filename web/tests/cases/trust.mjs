// What the page may do, and what it does not.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { openArchive, openFolder, openPage, openSample, unlock } from '../browser.mjs'
import { fixture } from '../fixtures.mjs'
import { serveRepository } from '../server.mjs'

const GOOD = 'mode-aes256-ocb-sha256-repokey'

export const trust = {
  async 'a folder is open: nobody can be talked to'({ browser, url }) {
    const foreign = await serveRepository(fixture(GOOD).repository)
    const page = await openPage(browser, url)
    equal(await reaches(page, foreign.url), true)
    await openFolder(page, fixture(GOOD))
    equal(await reaches(page, foreign.url), false)
    ok(page.workers().length > 0)
    for (const worker of page.workers()) equal(await reaches(worker, foreign.url), false)
    equal(await reaches(page, url), true)
    foreign.close()
  },

  async 'a server is open: only that can be talked to'({ browser, url }) {
    const server = await serveRepository(fixture(GOOD).repository)
    const foreign = await serveRepository(fixture(GOOD).repository)
    const page = await openPage(browser, url)
    await page.getByLabel('Or its address on a server').fill(server.url)
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await unlock(page, fixture(GOOD).passphrase)
    for (const there of [page, ...page.workers()]) {
      equal(await reaches(there, foreign.url), false)
      equal(await reaches(there, `${server.url}/config/config`), true)
    }
    server.close()
    foreign.close()
  },

  async 'scripts that are not the page’s do not run'({ browser, url }) {
    const page = await openPage(browser, url)
    const ran = await page.evaluate(async () => {
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.body.append(script)
      const button = document.createElement('div')
      button.innerHTML = '<img src="x:" onerror="window.ran = true"><iframe srcdoc="<script>parent.ran = true</script>"></iframe>'
      document.body.append(button)
      await new Promise((wake) => setTimeout(wake, 300))
      try {
        new Function('window.ran = true')()
      } catch {
        // as it should be
      }
      return window.ran
    })
    equal(ran, undefined)
  },

  async 'only this origin is asked for anything'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    deepEqual([...page.hosts].filter(Boolean), [new URL(url).host])
  },

  async 'it works without a network'({ browser, url }) {
    const page = await openPage(browser, url)
    await page.getByText('Works offline').waitFor()
    await page.waitForFunction(() => navigator.serviceWorker.controller)
    await page.context().setOffline(true)
    await page.reload()
    await page.waitForSelector('h1')
    await openFolder(page, fixture(GOOD))
    await openArchive(page)
  },

  async 'version and hash are shown, and right'({ browser, url }) {
    const page = await openPage(browser, url)
    await page.locator('.about code').waitFor()
    const shown = await page.locator('.about').innerText()
    const { version, build, files } = await (await fetch(`${url}build.json`)).json()
    ok(shown.includes(version) && shown.includes(build.slice(0, 12)))
    for (const [name, expected] of Object.entries(files)) {
      const bytes = Buffer.from(await (await fetch(url + name)).arrayBuffer())
      equal(createHash('sha256').update(bytes).digest('hex'), expected, name)
    }
  },

  async 'names of files stay out of the address and of the history'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    await page.locator('.grid-layer .name').first().click()
    await page.locator('.crumbs [aria-current]', { hasText: 'documents' }).waitFor()
    equal(page.url(), url)
    equal(await page.evaluate(() => JSON.stringify(history.state)), '{"at":2}')
    match(await page.title(), /^Files – /)
  },
}

/** Whether something at an address can be had. */
function reaches(there, address) {
  return there.evaluate(
    (address) =>
      fetch(address).then(
        () => true,
        () => false,
      ),
    address,
  )
}
