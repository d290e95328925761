// Pictures of every screen, wide and on a phone, light and dark, for a person to look at.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openArchive, openFolder, openPage, openSample, putFolder } from './browser.mjs'
import { fixture } from './fixtures.mjs'

/** Takes them into a folder, in one size and one colour scheme; `check` looks at each screen, too. */
export async function shoot(browser, url, folder, { size, scheme }, check) {
  mkdirSync(folder, { recursive: true })
  const take = async (page, name) => {
    await page.waitForTimeout(200)
    await page.screenshot({ path: join(folder, `${name}-${size}-${scheme}.png`) })
    await check?.(page, name)
  }
  await screens(() => openPage(browser, url, { size, scheme }), take)
}

async function screens(start, take) {
  let page = await start()
  await take(page, 'open')
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByLabel('Passphrase', { exact: true }).fill('wrong')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('alert').waitFor()
  await take(page, 'wrong-passphrase')
  await page.getByLabel('Passphrase', { exact: true }).fill('sample')
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('heading', { name: 'Archives', level: 1 }).waitFor()
  await take(page, 'archives')
  await openArchive(page)
  await page.getByText('Every file of this archive').waitFor()
  await take(page, 'files-root')
  await enter(page, 'documents')
  await page.locator('.grid-layer .grid-row', { hasText: 'recipes' }).getByRole('checkbox').check()
  await page.locator('.grid-layer .grid-row', { hasText: 'invoices' }).getByRole('checkbox').check()
  await take(page, 'basket')
  await page.locator('.grid-layer .grid-row', { hasText: 'letter to Jonas.txt' }).click()
  await page.locator('.preview-text').waitFor()
  await take(page, 'preview-text')
  await page.getByRole('button', { name: 'Details', exact: true }).click()
  await take(page, 'details')
  await page.getByRole('button', { name: 'Versions', exact: true }).click()
  await page.getByText(/^In \d+ archives/).waitFor()
  await take(page, 'versions')
  await page.goBack()
  await page.locator('.grid[aria-busy=false]').waitFor()
  const compare = page.getByLabel('Compare with another archive')
  if ((await compare.count()) > 0) {
    await compare.selectOption({ label: 'laptop – 1 Mar 2025, 20:00' })
    await page.getByText(/^\d+ changes$/).waitFor()
    await take(page, 'difference')
    await page.goBack()
    await page.locator('.grid[aria-busy=false]').waitFor()
  }
  await page.locator('.basket').getByRole('button', { name: 'Restore' }).click()
  await page.getByText('One zip file').waitFor()
  await take(page, 'restore')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.locator('.job.done').waitFor()
  await take(page, 'restored')
  await page.getByRole('button', { name: 'Put away' }).click()
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page.getByPlaceholder('A part of a name or path').fill('garden')
  await page.getByPlaceholder('A part of a name or path').fill('in')
  await page.getByText(/paths found/).waitFor()
  await take(page, 'search')
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await take(page, 'verify')
  await page.locator('form').getByRole('button', { name: 'Verify' }).click()
  await page.getByText('All is well').waitFor()
  await take(page, 'verified')
  await page.context().close()

  page = await start()
  await openSample(page)
  await openArchive(page)
  await enter(page, 'pictures')
  await enter(page, '2025')
  await page.locator('.grid-layer .grid-row', { hasText: 'spring.png' }).click()
  await page.locator('.preview-facts', { hasText: '×' }).waitFor()
  await take(page, 'preview-picture')
  await page.context().close()

  page = await start()
  await openFolder(page, fixture('oddtree'))
  await openArchive(page)
  await enter(page, 'names')
  await take(page, 'odd-names')
  await page.context().close()

  page = await start()
  await openFolder(page, fixture('file-chunk-missing'))
  await openArchive(page)
  await page.getByText(/damaged$/).first().waitFor()
  await take(page, 'damaged')
  await page.locator('.grid-layer .grid-row', { has: page.locator('.damage') }).first().click()
  await page.waitForTimeout(300)
  await take(page, 'damaged-inside')
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await page.locator('form').getByRole('button', { name: 'Verify' }).click()
  await page.getByText('Something is missing').waitFor()
  await take(page, 'verified-damaged')
  await page.context().close()

  page = await start()
  await openFolder(page, fixture('series'))
  await page.getByLabel('Deleted ones, too').check()
  await page.waitForTimeout(300)
  await take(page, 'many-archives')
  await page.context().close()

  page = await start()
  await putFolder(page, fixture('borg1-repo').repository)
  await page.getByRole('button', { name: 'Choose a folder' }).click()
  await page.getByRole('alert').waitFor()
  await take(page, 'borg1')
  await page.context().close()
}

async function enter(page, name) {
  await page.locator('.grid-layer .grid-row', { hasText: name }).first().click()
  await page.locator('nav.crumbs [aria-current]', { hasText: name }).waitFor()
  await page.locator('.grid[aria-busy=false]').waitFor()
}
