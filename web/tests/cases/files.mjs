// Archives and files: lists, order, keys, the basket, damage.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { openArchive, openFolder, openPage, openSample } from '../browser.mjs'
import { fixture } from '../fixtures.mjs'

export const files = {
  async 'archives by series and time, with deleted ones'({ browser, url }) {
    const page = await openPage(browser, url)
    const { expected } = fixture('series')
    await openFolder(page, fixture('series'))
    const live = expected.archives.filter((archive) => !archive.soft_deleted)
    match(await page.locator('.title').innerText(), new RegExp(`${live.length} archives`))
    ok(await page.locator('.series', { hasText: 'zweites täst-archiv' }).getByText('ümlaut').isVisible())
    await page.getByRole('button', { name: 'By time' }).click()
    equal(await page.locator('.archive').count(), live.length)
    await page.getByLabel('Deleted ones, too').check()
    await page.locator('.chip.gone').first().waitFor()
    equal(await page.locator('.archive').count(), expected.archives.length)
    await page.getByPlaceholder('Find an archive').fill('imported')
    equal(await page.locator('.archive').count(), 3)
    deepEqual(page.wrong, [])
  },

  async 'archives that can’t be used'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('archive-meta-flip'))
    await page.getByText('Archives that can’t be used').waitFor()
    equal(await page.locator('.archive.broken').count(), 1)
    deepEqual(page.wrong, [])
  },

  async 'names that try tricks'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('archive-name-control'))
    const text = await page.locator('main').innerText()
    ok(!/[\u0000-\u0008\u000b-\u001f]/.test(text))
    await page.context().close()
    const odd = await openPage(browser, url)
    await openFolder(odd, fixture('oddtree'))
    await openArchive(odd)
    await enter(odd, 'names')
    ok((await odd.locator('.grid-layer').innerText()).includes('U+202E'))
    ok(!(await odd.content()).includes('\u202e'))
    deepEqual(odd.wrong, [])
  },

  async 'every item of a tree'({ browser, url }) {
    const page = await openPage(browser, url)
    const { expected } = fixture('series')
    await openFolder(page, fixture('series'))
    await page.getByPlaceholder('Find an archive').fill('digests')
    await openArchive(page)
    const { items } = expected.archives.find(({ metadata }) => metadata.name === 'digests')
    const top = items.filter(({ path }) => !path.includes('/')).map(({ path }) => path)
    deepEqual((await names(page)).sort(), top.sort())
    await enter(page, 'sub')
    const inside = items.filter(({ path }) => path.startsWith('sub/')).map(({ path }) => path.slice(4))
    deepEqual((await names(page)).sort(), inside.sort())
  },

  async 'order'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    await enter(page, 'pictures')
    await enter(page, '2025')
    deepEqual(await names(page), ['evening.png', 'spring.png', 'winter morning.png'])
    await page.getByRole('columnheader', { name: 'Modified' }).getByRole('button').click()
    await page.waitForFunction(() => document.querySelector('.grid-layer .name')?.textContent === 'evening.png')
    await page.getByRole('columnheader', { name: 'Modified' }).getByRole('button').click()
    await page.waitForFunction(() => document.querySelector('.grid-layer .name')?.textContent === 'winter morning.png')
    equal(await page.getByRole('columnheader', { name: 'Modified' }).getAttribute('aria-sort'), 'ascending')
  },

  async 'all by keyboard'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await page.locator('.archive-open').first().focus()
    await page.keyboard.press('Enter')
    await page.locator('.grid[aria-busy=false]').waitFor()
    await page.waitForFunction(() => document.activeElement?.className === 'grid')
    await page.keyboard.press('Enter') // documents
    await page.locator('.crumbs [aria-current]', { hasText: 'documents' }).waitFor()
    await page.locator('.grid[aria-busy=false]').waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Space')
    await page.getByText('1 thing ticked').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.preview-text').waitFor()
    await page.keyboard.press('Escape')
    equal(await page.locator('.panel').count(), 0)
    await page.keyboard.press('Backspace')
    await page.locator('.crumbs [aria-current]', { hasText: 'laptop' }).waitFor()
    await page.locator('.grid-row.active', { hasText: 'documents' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => !document.querySelector('dialog'))
    await page.locator('.grid').focus()
    await page.keyboard.press('/')
    await page.getByRole('heading', { name: 'Search' }).waitFor()
    await page.goBack()
    await page.locator('.grid').waitFor()
    deepEqual(page.wrong.filter((text) => !/404/.test(text)), [])
  },

  async 'the basket and its total'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    await row(page, 'documents').getByRole('checkbox').check()
    await page.locator('.basket', { hasText: '12 items, 1' }).waitFor().catch(() => {})
    const before = await page.locator('.basket p').innerText()
    await enter(page, 'documents')
    equal(await row(page, 'letter to Jonas.txt').getByRole('checkbox').isChecked(), true)
    equal(await row(page, 'letter to Jonas.txt').getByRole('checkbox').isDisabled(), true)
    await page.goBack()
    await row(page, 'documents').getByRole('checkbox').uncheck()
    await enter(page, 'documents')
    await row(page, 'letter to Jonas.txt').getByRole('checkbox').check()
    await page.locator('.basket', { hasText: '1 item, 211 B' }).waitFor()
    match(before, /\d+ items, [\d.]+ k?B/)
    await page.locator('.basket').getByRole('button', { name: 'Clear' }).click()
    equal(await page.locator('.basket').count(), 0)
  },

  async 'damage where it is'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('file-chunk-missing'))
    await page.locator('.archive-open', { hasText: '2 Jan 2025' }).first().click()
    await page.getByText('1 file is damaged').waitFor()
    await page.locator('.grid-row', { has: page.locator('.damage') }).first().click()
    await page.getByText('1 piece of this file can’t be had').waitFor()
    await page.getByRole('button', { name: 'Restore all' }).click()
    await page.getByText('One of these files is damaged').waitFor()
    deepEqual(page.wrong, [])
  },

  async 'a broken list of files'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('item-chunk-missing'))
    for (let place = 0; ; place += 1) {
      await page.locator('.archive-open').nth(place).click()
      await page.locator('.files-main').waitFor()
      await page.waitForTimeout(500)
      if (await page.getByText('The list of this archive’s files is damaged').isVisible()) break
      ok(place < 3, 'no archive says that its list is damaged')
      await page.goBack()
    }
  },

  async 'many items'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('many-items'))
    await openArchive(page)
    const many = page.locator('.title p')
    const first = page.locator('.grid-layer .name').first()
    for (let depth = 0; depth < 4 && !/\d{3} items/.test(await many.innerText()); depth += 1) {
      await first.click()
      await page.waitForTimeout(200)
      await page.locator('.grid[aria-busy=false]').waitFor()
    }
    const total = Number((await many.innerText()).match(/([\d,]+) items/)[1].replace(',', ''))
    ok(total > 1000, `${total}`)
    await page.locator('.grid').focus()
    await page.keyboard.press('End')
    await page.locator(`#row-${total - 1}:not(.waiting) .name`).waitFor()
    ok((await page.locator('.grid-layer .grid-row').count()) < 60)
    await page.keyboard.press('Home')
    await page.locator('#row-0').waitFor()
    deepEqual(page.wrong, [])
  },
}

export function row(page, name) {
  return page.locator('.grid-layer .grid-row').filter({ has: page.locator('.name', { hasText: new RegExp(`^${name.replace(/[.*+?^$()|[\]\\]/g, '\\$&')}`) }) })
}

export async function enter(page, name) {
  await row(page, name).first().click()
  await page.locator('.crumbs [aria-current]', { hasText: name }).waitFor()
  await page.locator('.grid[aria-busy=false]').waitFor()
}

async function names(page) {
  return page.locator('.grid-layer .name').allTextContents()
}
