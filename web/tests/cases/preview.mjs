// Looks into files: what each kind shows, and that nothing in them is run.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { openArchive, openFolder, openPage, openSample } from '../browser.mjs'
import { fixture } from '../fixtures.mjs'
import { enter, row } from './files.mjs'

export const preview = {
  async 'text, bytes and details'({ browser, url }) {
    const page = await start(browser, url, ['documents', 'recipes'], 'Käsespätzle.md')
    match(await page.locator('.preview-text').innerText(), /^# Käsespätzle/)
    match(await page.locator('.preview-facts').innerText(), /UTF-8 · 4 lines/)
    await page.getByRole('button', { name: 'Bytes' }).click()
    match(await page.locator('.preview-text.hex').innerText(), /^000000 {2}23 20 4b c3 {2}a4 73 65 73 {2}# K··ses/)
    await page.getByRole('button', { name: 'Details', exact: true }).click()
    match(await page.locator('.details').innerText(), /Permissions[^]*-rw-r--r-- \(0644\)/)
  },

  async 'a picture'({ browser, url }) {
    const page = await start(browser, url, ['pictures', '2025'], 'evening.png')
    await page.getByText('420 × 280').waitFor()
    deepEqual(unexpected(page), [])
  },

  async 'a drawing with a script'({ browser, url }) {
    const page = await openPage(browser, url)
    page.on('dialog', (dialog) => page.wrong.push(`a script ran: ${dialog.message()}`) && dialog.dismiss())
    await show(page, ['pictures'], 'logo.svg')
    await page.locator('.preview-picture').waitFor()
    await page.waitForTimeout(300)
    deepEqual(unexpected(page), [])
  },

  async 'sound, of which parts are read'({ browser, url }) {
    const page = await openPage(browser, url)
    await page.waitForFunction(() => navigator.serviceWorker.controller)
    await show(page, ['music'], 'evening.wav')
    const audio = page.locator('audio')
    await audio.waitFor()
    await page.waitForFunction(() => document.querySelector('audio').duration > 0)
    match(await audio.evaluate((element) => element.src), /\/content\/[0-9a-f]{32}$/)
    equal(await audio.evaluate((element) => Math.round(element.duration * 10)), 48)
    const answer = await audio.evaluate(async (element) => {
      const response = await fetch(element.src, { headers: { Range: 'bytes=4-7' } })
      return [response.status, response.headers.get('Content-Range'), (await response.arrayBuffer()).byteLength, response.headers.get('Content-Security-Policy')]
    })
    deepEqual(answer, [206, 'bytes 4-7/19244', 4, "sandbox; default-src 'none'"])
    equal(await audio.evaluate(async (element) => (await fetch(element.src, { headers: { Range: 'bytes=99999-' } })).status), 416)
  },

  async 'a page with a script'({ browser, url }) {
    const page = await start(browser, url, ['projects', 'site'], 'index.html')
    match(await page.locator('.preview-text').innerText(), /<script>/)
    await page.getByRole('button', { name: 'As a page' }).click()
    const frame = page.frameLocator('.preview-frame')
    await frame.getByRole('heading', { name: 'The garden in April' }).waitFor()
    ok(!(await frame.locator('body').innerText()).includes('scripts run'))
    equal(await page.locator('.preview-frame').getAttribute('sandbox'), '')
  },

  async 'a document'({ browser, url }) {
    const page = await start(browser, url, ['documents', 'household'], 'lease.pdf')
    await page.locator('.preview canvas, .preview-note').first().waitFor()
  },

  async 'a damaged file'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('file-chunk-missing'))
    await page.locator('.archive-open', { hasText: '2 Jan 2025' }).first().click()
    await row(page, 'b.txt').click()
    await page.getByText('This file is damaged here').waitFor()
    deepEqual(unexpected(page), [])
  },

  async 'every attribute'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('oddtree'))
    await page.locator('.archive-open').last().click()
    await enter(page, 'xattr')
    const { items } = fixture('oddtree').expected.archives[0]
    const item = items.find(({ path, xattrs }) => String(path).startsWith('xattr/') && Object.keys(xattrs).length > 0)
    await row(page, item.path.slice(6)).first().click()
    await page.getByRole('button', { name: 'Details', exact: true }).click()
    const text = await page.locator('.details').innerText()
    ok(text.includes(Object.keys(item.xattrs)[0]), text)
    match(text, /Modified\n14 Nov 2023, 23:13:\d\d\.\d{9} CET/)
  },
}

async function start(browser, url, folders, name) {
  const page = await openPage(browser, url)
  await show(page, folders, name)
  return page
}

async function show(page, folders, name) {
  await openSample(page)
  await openArchive(page)
  for (const folder of folders) await enter(page, folder)
  await row(page, name).click()
  await page.locator('.panel').waitFor()
  await page.waitForFunction(() => !document.querySelector('.panel .busy'))
}

/** Beside the sample's answer that it is no borgstore server. */
function unexpected(page) {
  return page.wrong.filter((text) => !/404/.test(text))
}
