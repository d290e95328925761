// A browser in which the page is driven. In place of the browser's own dialogs, which nothing can drive, stand folders and files of
// the origin's private file system, which are handles of the same kind.

import { chromium } from 'playwright-core'
import { filesBelow } from './fixtures.mjs'

/** Debian's, or that of the variable. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'

export const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }

export async function startBrowser() {
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/**
 * Opens the page anew: `size` and `scheme` are what the person has, `pickers` whether the browser has dialogs for folders,
 * `services` whether service workers. What the page should not do is gathered in `page.wrong`.
 */
export async function openPage(browser, url, { size = 'wide', scheme = 'light', pickers = true, services = true, ...more } = {}) {
  const context = await browser.newContext({
    viewport: SIZES[size],
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    acceptDownloads: true,
    hasTouch: size === 'phone',
    serviceWorkers: services ? 'allow' : 'block',
    ...more,
  })
  await context.addInitScript(dialogs, pickers)
  const page = await context.newPage()
  page.wrong = []
  page.hosts = new Set()
  page.on('pageerror', (error) => page.wrong.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') page.wrong.push(`console: ${message.text()}`)
  })
  context.on('request', (request) => page.hosts.add(new URL(request.url()).host))
  await page.goto(url)
  await page.waitForSelector('h1')
  return page
}

/** Runs in the page before its own scripts. */
function dialogs(pickers) {
  if (!pickers) {
    delete window.showDirectoryPicker
    delete window.showSaveFilePicker
    return
  }
  const root = () => navigator.storage.getDirectory()
  window.chosenFolder = 'repository'
  window.showDirectoryPicker = async ({ mode }) => {
    const name = mode === 'readwrite' ? 'restored' : window.chosenFolder
    return (await root()).getDirectoryHandle(name, { create: mode === 'readwrite' })
  }
  window.showSaveFilePicker = async ({ suggestedName }) => {
    const folder = await (await root()).getDirectoryHandle('saved', { create: true })
    return folder.getFileHandle(suggestedName, { create: true })
  }
}

/** Puts a repository's folder where the dialog finds it. */
export async function putFolder(page, folder, name = 'repository') {
  const files = filesBelow(folder).map(([path, content]) => [path, content.toString('base64')])
  await page.evaluate(
    async ([name, files]) => {
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true })
      for (const [path, content] of files) {
        const parts = path.split('/')
        let folder = root
        for (const part of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true })
        const file = await (await folder.getFileHandle(parts.at(-1), { create: true })).createWritable()
        await file.write(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)))
        await file.close()
      }
      window.chosenFolder = name
    },
    [name, files],
  )
}

/** All files below a folder of the private file system: pairs of a path and content. */
export async function readFolder(page, name) {
  const files = await page.evaluate(async (name) => {
    const found = []
    const walk = async (folder, path) => {
      for await (const [entry, handle] of folder.entries()) {
        if (handle.kind === 'directory') {
          await walk(handle, `${path}${entry}/`)
          continue
        }
        const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer())
        let text = ''
        for (const byte of bytes) text += String.fromCharCode(byte)
        found.push([path + entry, btoa(text)])
      }
    }
    try {
      await walk(await (await navigator.storage.getDirectory()).getDirectoryHandle(name), '')
    } catch {
      // nothing was made
    }
    return found
  }, name)
  return new Map(files.map(([path, content]) => [path, Buffer.from(content, 'base64')]))
}

/** Opens a repository from a folder and unlocks it. */
export async function openFolder(page, { repository, passphrase }) {
  if (await page.evaluate(() => 'showDirectoryPicker' in window)) {
    await putFolder(page, repository)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
  } else {
    await page.locator('input[webkitdirectory]').setInputFiles(repository)
  }
  await unlock(page, passphrase)
}

export async function openSample(page) {
  await page.getByRole('button', { name: 'Try it' }).click()
  await unlock(page, 'sample')
}

export async function unlock(page, passphrase) {
  await page.getByLabel('Passphrase', { exact: true }).fill(passphrase)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await page.getByRole('heading', { name: 'Archives', level: 1 }).waitFor()
}

/** Opens an archive of the list by its place in it. */
export async function openArchive(page, place = 0) {
  await page.locator('.archive-open').nth(place).click()
  await page.getByRole('grid').waitFor()
  await page.locator('.grid[aria-busy=false]').waitFor()
}
