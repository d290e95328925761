// Getting files back, in every way, byte for byte.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { openArchive, openFolder, openPage, openSample, readFolder } from '../browser.mjs'
import { filesBelow, fixture, scratchFolder } from '../fixtures.mjs'
import { enter, row } from './files.mjs'

export const restore = {
  async 'one file, where a dialog says'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    await enter(page, 'documents')
    await row(page, 'letter to Jonas.txt').click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.locator('.job.done').waitFor()
    match((await readFolder(page, 'saved')).get('letter to Jonas.txt').toString(), /^Dear Jonas,[^]*P\.S\. The seeds/)
  },

  async 'one file, as a download through the service worker'({ browser, url }) {
    const page = await openPage(browser, url, { pickers: false })
    await controlled(page)
    const saved = await download(page, async () => {
      await openSample(page)
      await openArchive(page)
      await enter(page, 'pictures')
      await enter(page, '2025')
      await row(page, 'spring.png').click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
    })
    equal(saved.name, 'spring.png')
    deepEqual([...saved.bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47])
    equal(saved.bytes.length, 1619)
    await page.locator('.job.done').waitFor()
  },

  async 'one file, gathered in memory'({ browser, url }) {
    const page = await openPage(browser, url, { pickers: false, services: false })
    const saved = await download(page, async () => {
      await openSample(page)
      await openArchive(page)
      await enter(page, 'projects')
      await row(page, 'data.bin').click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
    })
    deepEqual([...saved.bytes], Array.from({ length: 3000 }, (_, number) => (number * number) % 251))
  },

  async 'everything as a zip file'({ browser, url }) {
    const page = await openPage(browser, url)
    await all(page, 'One zip file')
    const [[name, bytes]] = await readFolder(page, 'saved')
    match(name, /\.zip$/)
    compare(new Map(unzip(bytes).filter(([path]) => !path.endsWith('/'))))
  },

  async 'everything as a tar file'({ browser, url }) {
    const page = await openPage(browser, url)
    await all(page, 'One tar file')
    const [[, bytes]] = await readFolder(page, 'saved')
    const folder = scratchFolder('tar')
    writeFileSync(join(folder, 'all.tar'), bytes)
    execFileSync('tar', ['-xf', 'all.tar', '--one-top-level=out'], { cwd: folder })
    compare(new Map(filesBelow(join(folder, 'out'))))
  },

  async 'everything into a folder'({ browser, url }) {
    const page = await openPage(browser, url)
    await all(page, 'Into a folder')
    compare(await readFolder(page, 'restored'))
  },

  async 'a folder as a download through the service worker'({ browser, url }) {
    const page = await openPage(browser, url, { pickers: false })
    await controlled(page)
    const saved = await download(page, () => all(page, 'One zip file'))
    compare(new Map(unzip(saved.bytes).filter(([path]) => !path.endsWith('/'))))
  },

  async 'nothing is overwritten unasked'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    await openArchive(page)
    const into = async (choice) => {
      await row(page, 'projects').getByRole('checkbox').check()
      await page.locator('.basket').getByRole('button', { name: 'Restore' }).click()
      await page.getByText('Into a folder', { exact: true }).click()
      await page.getByLabel('If a file is there already').selectOption({ label: choice })
      await page.getByRole('button', { name: 'Choose the folder' }).click()
      await page.locator('.job.done').waitFor()
      await page.getByRole('button', { name: 'Put away' }).click()
      return readFolder(page, 'restored')
    }
    const first = await into('Keep both')
    deepEqual([...first.keys()].sort(), ['projects/data.bin', 'projects/site/app.js', 'projects/site/index.html'])
    await page.evaluate(async () => {
      const folder = await (await (await navigator.storage.getDirectory()).getDirectoryHandle('restored')).getDirectoryHandle('projects')
      const file = await (await folder.getFileHandle('data.bin')).createWritable()
      await file.write('mine')
      await file.close()
    })
    const both = await into('Keep both')
    equal(both.get('projects/data.bin').toString(), 'mine')
    equal(both.get('projects/data (2).bin').length, 3000)
    const skipped = await into('Keep the one that is there')
    equal(skipped.get('projects/data.bin').toString(), 'mine')
    equal(skipped.size, both.size)
    equal((await into('Replace it')).get('projects/data.bin').length, 3000)
  },

  async 'names that no system takes'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('oddtree'))
    await openArchive(page)
    await row(page, 'names').getByRole('checkbox').check()
    await row(page, 'sym').first().getByRole('checkbox').check()
    await page.locator('.basket').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Into a folder', { exact: true }).click()
    await page.getByRole('button', { name: 'Choose the folder' }).click()
    await page.locator('.job.done').waitFor()
    const { expected } = fixture('oddtree')
    const items = expected.archives.at(-1).items.filter(({ path }) => (path.hex ? Buffer.from(path.hex, 'hex').toString('latin1') : path).startsWith('names/'))
    const restored = await readFolder(page, 'restored')
    equal([...restored.keys()].filter((path) => path.startsWith('names/')).length, items.length)
    for (const path of restored.keys()) {
      ok(!/[\\:*?"<>|\u0000-\u001f\u202e]/.test(path), path)
      for (const part of path.split('/')) ok(!/^(con|nul)(\.|$)/i.test(part) && !/[. ]$/.test(part), path)
    }
    const lower = [...restored.keys()].map((path) => path.toLowerCase())
    equal(new Set(lower).size, lower.length)
    await page.getByRole('button', { name: /remarks/ }).click()
    await page.getByText('A browser can’t make symbolic links.').first().waitFor()
  },

  async 'damage costs only what is damaged'({ browser, url }) {
    const page = await openPage(browser, url)
    const { expected } = fixture('file-chunk-missing')
    await openFolder(page, fixture('file-chunk-missing'))
    await page.locator('.archive-open', { hasText: '2 Jan 2025' }).first().click()
    await page.locator('.grid[aria-busy=false]').waitFor()
    await page.getByRole('button', { name: 'Restore all' }).click()
    await page.getByText('Into a folder', { exact: true }).click()
    await page.getByRole('button', { name: 'Choose the folder' }).click()
    await page.locator('.job.done.with-remarks').waitFor()
    await page.getByRole('button', { name: /remark/ }).click()
    await page.getByRole('dialog').getByText('Damaged: lost parts are zeros').waitFor()
    const restored = await readFolder(page, 'restored')
    const intact = expected.intact_archives.one.items ?? expected.intact_archives.one
    const wrong = intact.filter(({ path, sha256 }) => sha256 && hash(restored.get(path)) !== sha256).map(({ path }) => path)
    deepEqual(wrong, ['b.txt'])
    equal(restored.get('b.txt').length, intact.find(({ path }) => path === 'b.txt').size)
  },

  async 'paths that try to escape'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('path-escape'))
    const count = await page.locator('.archive-open').count()
    for (let place = 0; place < count; place += 1) {
      await page.locator('.archive-open').nth(place).click()
      await page.locator('.files-main').waitFor()
      await page.waitForTimeout(150)
      await page.getByRole('button', { name: 'Restore all' }).click()
      await page.getByText('Into a folder', { exact: true }).click()
      await page.getByRole('button', { name: 'Choose the folder' }).click()
      await page.locator('.job.done, .job.failed').waitFor()
      await page.getByRole('button', { name: 'Put away' }).click()
      await page.getByRole('navigation', { name: 'Where this folder is' }).getByRole('button', { name: 'Archives' }).click()
      await page.getByRole('heading', { name: 'Archives', level: 1 }).waitFor()
    }
    const folders = await page.evaluate(async () => {
      const found = []
      for await (const [name] of (await navigator.storage.getDirectory()).entries()) found.push(name)
      return found
    })
    deepEqual(folders.sort(), ['repository', 'restored'])
    for (const path of (await readFolder(page, 'restored')).keys()) ok(!path.split('/').includes('..'), path)
  },

  async 'pause, go on, cancel'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture('many-items'))
    // A file that takes a while to be written.
    await page.evaluate(() => {
      const write = FileSystemFileHandle.prototype.createWritable
      FileSystemFileHandle.prototype.createWritable = async function (...args) {
        const file = (await write.apply(this, args)).getWriter()
        const slow = new WritableStream({
          async write(bytes) {
            await new Promise((wake) => setTimeout(wake, 250))
            await file.write(bytes)
          },
          close: () => file.close(),
          abort: (reason) => file.abort(reason),
        })
        return slow
      }
    })
    const begin = async () => {
      await openArchive(page)
      await page.getByRole('button', { name: 'Restore all' }).click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
    }
    await begin()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.locator('.job.paused').waitFor()
    await page.waitForTimeout(700)
    equal(await page.locator('.job.paused').count(), 1)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.locator('.job.done').waitFor()
    await page.getByRole('button', { name: 'Put away' }).click()
    await page.goBack()
    await begin()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.locator('.job.cancelled').waitFor()
  },
}

/** Restores all of the archive `slash-paths`, in a way. */
async function all(page, way) {
  await openFolder(page, fixture('series'))
  await page.getByPlaceholder('Find an archive').fill('slash-paths')
  await openArchive(page)
  await page.getByRole('button', { name: 'Restore all' }).click()
  await page.getByText(way, { exact: true }).click()
  await page.locator('.ask').getByRole('button', { name: /Save|Choose the folder/ }).click()
  await page.locator('.job.done').waitFor()
}

/** Compares files with what the kit knows of that archive. */
function compare(restored) {
  const { items } = fixture('series').expected.archives.find(({ metadata }) => metadata.name === 'slash-paths')
  const expected = Object.fromEntries(items.filter(({ sha256 }) => sha256).map(({ path, sha256 }) => [path, sha256]))
  ok(Object.keys(expected).length > 2)
  deepEqual(Object.fromEntries([...restored].map(([path, bytes]) => [path, hash(bytes)])), expected)
}

function hash(bytes) {
  return bytes && createHash('sha256').update(bytes).digest('hex')
}

async function download(page, act) {
  const [download] = await Promise.all([page.waitForEvent('download'), act()])
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
}

async function controlled(page) {
  await page.waitForFunction(() => navigator.serviceWorker.controller)
}

/** What is in a zip file, by its central directory. */
function unzip(bytes) {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  const found = []
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [packed, nameLength, extra, comment] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)]
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    found.push([bytes.toString('utf8', at + 46, at + 46 + nameLength), inflateRawSync(bytes.subarray(start, start + packed))])
    at += 46 + nameLength + extra + comment
  }
  return found
}
