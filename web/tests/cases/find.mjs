// Search, versions, differences, and the whole repository verified.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { openArchive, openFolder, openPage, openSample } from '../browser.mjs'
import { fixture } from '../fixtures.mjs'
import { enter, row } from './files.mjs'

export const find = {
  async 'search in all archives'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByPlaceholder('A part of a name or path').pressSequentially('BUDGET', { delay: 20 })
    await page.getByText('2 paths found').waitFor()
    const hit = page.locator('.hit', { hasText: 'budget 2025.csv' }).first()
    match(await hit.innerText(), /in 5 archives/)
    await hit.locator('.hit-open').click()
    await page.locator('.grid-row.active', { hasText: 'budget 2025.csv' }).waitFor()
    await page.goBack()
    await page.getByText('2 paths found').waitFor()
  },

  async 'search in one archive'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page, 4)
    await page.getByRole('button', { name: 'Search in this archive' }).click()
    await page.getByPlaceholder('A part of a name or path').fill('plumber')
    await page.getByText('Nothing has that in its path').waitFor()
    await page.getByLabel('Where').selectOption({ index: 0 })
    await page.getByText('1 path found').waitFor()
    await page.getByPlaceholder('A part of a name or path').fill('no such thing')
    await page.getByText('Nothing has that in its path').waitFor()
  },

  async 'versions of a path'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    await enter(page, 'documents')
    await enter(page, 'household')
    await row(page, 'budget 2025.csv').click()
    await page.getByRole('button', { name: 'Versions', exact: true }).click()
    await page.getByText('In 5 archives').waitFor()
    deepEqual(await page.locator('.version .chip').allTextContents(), ['unchanged', 'content changed', 'content changed', 'first seen'])
    await page.getByLabel('Unchanged ones, too').check()
    equal(await page.locator('.version').count(), 5)
    await page.locator('.version').last().getByRole('button', { name: 'Save' }).click()
    await page.locator('.job.done').waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    await page.locator('.grid').waitFor()
  },

  async 'the difference of two archives'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    await page.getByLabel('Compare with another archive').selectOption({ label: 'laptop – 1 May 2025, 20:00' })
    await page.getByText('changes', { exact: false }).first().waitFor()
    await page.locator('.difference-row', { hasText: '2025-05 compost.txt' }).locator('.chip.added').waitFor()
    await page.locator('.difference-row', { hasText: 'evening.png' }).locator('.chip.added').waitFor()
    await page.getByRole('button', { name: /^removed/ }).click()
    equal(await page.locator('.difference-row').count(), 0)
    await page.getByRole('button', { name: /^all/ }).click()
    await page.locator('.difference-row', { hasText: 'evening.png' }).locator('.difference-open').click()
    await page.locator('.grid-row.active', { hasText: 'evening.png' }).waitFor()
  },

  async 'a repository that is whole'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await verify(page)
    await page.getByText('All is well').waitFor()
    deepEqual(
      page.wrong.filter((text) => !/404/.test(text)),
      [],
    )
  },

  async 'a repository that is damaged'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('file-chunk-missing'))
    await verify(page)
    await page.getByText('Something is missing or broken').waitFor()
    const hit = page.locator('.verify-archives').getByRole('button', { name: 'b.txt' })
    await hit.click()
    await page.locator('.grid-row', { hasText: 'b.txt' }).locator('.damage').waitFor()
  },

  async 'a pack that is missing'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('missing-pack'))
    await verify(page)
    await page.getByText('Something is missing or broken').waitFor()
    ok((await page.locator('.verify-objects li').count()) > 0)
  },
}

async function verify(page) {
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  await page.locator('form').getByRole('button', { name: 'Verify' }).click()
}
