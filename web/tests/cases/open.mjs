// Every way to open a repository, and every way in which that is refused.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { openFolder, openPage, openSample, putFolder, unlock } from '../browser.mjs'
import { fixture } from '../fixtures.mjs'
import { serveRepository } from '../server.mjs'

const GOOD = 'mode-aes256-ocb-sha256-repokey'

export const open = {
  async 'a folder from the browser’s dialog'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture(GOOD))
    equal(await page.locator('.archive').count(), fixture(GOOD).expected.archives.length)
    deepEqual(page.wrong, [])
  },

  async 'a folder from an input'({ browser, url }) {
    const page = await openPage(browser, url, { pickers: false })
    await page.locator('input[webkitdirectory]').setInputFiles(fixture(GOOD).repository)
    await unlock(page, fixture(GOOD).passphrase)
    equal(await page.locator('.archive').count(), fixture(GOOD).expected.archives.length)
    deepEqual(page.wrong, [])
  },

  async 'a folder that is dropped'({ browser, url }) {
    const page = await openPage(browser, url)
    await putFolder(page, fixture(GOOD).repository)
    await page.evaluate(() => {
      // Only a person can drop a folder: the handle is the one that the drop would give.
      DataTransferItem.prototype.getAsFileSystemHandle = () => window.showDirectoryPicker({ mode: 'read' })
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([''], 'repository'))
      document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    })
    await unlock(page, fixture(GOOD).passphrase)
  },

  async 'something that is dropped and no folder'({ browser, url }) {
    const page = await openPage(browser, url)
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['x'], 'letter.txt'))
      document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    })
    await refused(page, /no folder/)
  },

  async 'an address'({ browser, url }) {
    const server = await serveRepository(fixture(GOOD).repository)
    const page = await openPage(browser, url)
    await address(page, server.url)
    await unlock(page, fixture(GOOD).passphrase)
    ok(await page.getByText(`This tab talks to ${new URL(server.url).host} only`).isVisible())
    server.close()
  },

  async 'an address that wants a password'({ browser, url }) {
    const server = await serveRepository(fixture(GOOD).repository, { user: 'mira:geheim ü' })
    const page = await openPage(browser, url)
    await address(page, server.url)
    await refused(page, /wants another user name or password/)
    await page.getByRole('button', { name: 'The server wants a user name' }).click()
    await page.getByLabel('User name').fill('mira')
    await page.getByLabel('Password of the server').fill('geheim ü')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await unlock(page, fixture(GOOD).passphrase)
    server.close()
  },

  async 'a server that lets no other page read'({ browser, url }) {
    const server = await serveRepository(fixture(GOOD).repository, { cors: false })
    const page = await openPage(browser, url)
    await address(page, server.url)
    await refused(page, /does not let this page read/)
    match(await page.getByRole('alert').innerText(), new RegExp(new URL(url).origin))
    server.close()
  },

  async 'a server that is not there'({ browser, url }) {
    const page = await openPage(browser, url)
    await address(page, 'http://127.0.0.1:9/repository')
    await refused(page, /can’t be reached/)
  },

  async 'a server without a network'({ browser, url }) {
    const page = await openPage(browser, url)
    await page.context().setOffline(true)
    await address(page, 'https://backup.example/repository')
    await refused(page, /no network/)
  },

  async 'a server with something else'({ browser, url }) {
    const server = await serveRepository(join(fixture(GOOD).repository, 'packs'))
    const page = await openPage(browser, url)
    await address(page, `${server.url}/nothing`)
    await refused(page, /no repository that can be read over the web/)
    server.close()
  },

  async 'no address'({ browser, url }) {
    const page = await openPage(browser, url)
    await address(page, 'ssh://me@host/repo')
    await refused(page, /no web address/)
  },

  async 'the sample'({ browser, url }) {
    const page = await openPage(browser, url)
    await openSample(page)
    ok(await page.getByText('This tab talks to nobody').isVisible())
  },

  async 'wrong, then right passphrases'({ browser, url }) {
    const page = await openPage(browser, url)
    await putFolder(page, fixture(GOOD).repository)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    const field = page.getByLabel('Passphrase', { exact: true })
    await field.fill('something else')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await refused(page, /does not open the repository/)
    await page.getByRole('button', { name: 'Show the passphrase' }).click()
    equal(await field.getAttribute('type'), 'text')
    await field.fill(fixture(GOOD).passphrase)
    await field.press('Enter')
    await page.getByRole('heading', { name: 'Archives', level: 1 }).waitFor()
  },

  async 'a passphrase in the other normal form'({ browser, url }) {
    for (const [name, form] of [
      ['keys-passphrase-nfc', 'NFD'],
      ['keys-passphrase-nfd', 'NFC'],
    ]) {
      const page = await openPage(browser, url)
      const repository = fixture(name)
      await openFolder(page, { ...repository, passphrase: repository.passphrase.normalize(form) })
    }
  },

  async 'an empty passphrase'({ browser, url }) {
    const page = await openPage(browser, url)
    await putFolder(page, fixture('keys-empty-passphrase').repository)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await page.getByText('has an empty passphrase').waitFor()
  },

  async 'a key file'({ browser, url }) {
    const { repository, folder, passphrase } = fixture('mode-aes256-ocb-blake3-keyfile')
    const page = await openPage(browser, url)
    await putFolder(page, repository)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await refused(page, /does not hold its key/)
    const [key] = await keyFiles(folder)
    await page.locator('input.key-file').setInputFiles(key)
    await unlock(page, passphrase)
  },

  async 'a key on paper'({ browser, url }) {
    const { repository, folder, passphrase } = fixture('keys-exported')
    const page = await openPage(browser, url)
    await putFolder(page, repository)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await refused(page, /does not hold its key/)
    await page.getByLabel('Key', { exact: true }).fill(readFileSync(join(folder, 'paper.txt'), 'utf8'))
    await page.getByLabel('Passphrase', { exact: true }).fill('not it')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await refused(page, /passphrase and this key/)
    await unlock(page, passphrase)
  },

  async 'what is no repository of Borg 2'({ browser, url }) {
    for (const [name, text] of [
      ['borg1-repo', /Borg 1\.x/],
      ['repo-version-6', /version of the format/],
      ['repo-version-4', /beta|version of the format/],
      ['config-missing', /no Borg repository/],
      ['config-garbage', /config is damaged/],
    ]) {
      const page = await openPage(browser, url)
      await putFolder(page, fixture(name).repository)
      await page.getByRole('button', { name: 'Choose a folder' }).click()
      await refused(page, text)
    }
  },

  async 'restic'({ browser, url }) {
    const page = await openPage(browser, url)
    await page.evaluate(async () => {
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('repository', { create: true })
      for (const name of ['data', 'index', 'keys', 'locks', 'snapshots']) await root.getDirectoryHandle(name, { create: true })
      const config = await (await root.getFileHandle('config', { create: true })).createWritable()
      await config.write(new Uint8Array(155).fill(7))
      await config.close()
      const keys = await root.getDirectoryHandle('keys')
      const key = await (await keys.getFileHandle('a'.repeat(64), { create: true })).createWritable()
      await key.write('{"created":"2025-01-01T00:00:00Z","username":"x","hostname":"y","kdf":"scrypt"}')
      await key.close()
    })
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await refused(page, /restic|no Borg repository/)
  },

  async 'opened before'({ browser, url }) {
    const page = await openPage(browser, url)
    await openFolder(page, fixture(GOOD))
    const kept = await page.evaluate(async () => {
      const [{ name }] = await indexedDB.databases()
      const database = await new Promise((resolve) => (indexedDB.open(name).onsuccess = ({ target }) => resolve(target.result)))
      const all = database.transaction('recent').objectStore('recent').getAll()
      return new Promise((resolve) => (all.onsuccess = () => resolve(JSON.stringify(all.result))))
    })
    ok(!kept.includes(fixture(GOOD).passphrase), kept)
    await page.getByRole('button', { name: /^Lock|Close the repository/ }).click()
    await page.getByRole('heading', { name: 'Opened here before' }).waitFor()
    await page.locator('.recent').click()
    await unlock(page, fixture(GOOD).passphrase)
    await page.reload()
    await page.getByRole('button', { name: /^Forget/ }).click()
    await page.reload()
    await page.getByText('Just looking?').waitFor()
    equal(await page.locator('.recent').count(), 0)
  },

  async 'a repository that a program serves beside the page'({ browser, url }) {
    const page = await openPage(browser, `${url}#repository=/repository/&token=secret&name=backup`)
    // Nothing is served there by this server: the place is tried, with the token, which is no longer to be seen.
    await refused(page, /no repository that can be read|can’t be reached|no repository/)
    ok(!page.url().includes('secret'))
  },
}

async function address(page, text) {
  await page.getByLabel('Or its address on a server').fill(text)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
}

async function refused(page, text) {
  await page.getByRole('alert').filter({ hasText: text }).waitFor()
}

async function keyFiles(folder) {
  const { readdir } = await import('node:fs/promises')
  return (await readdir(join(folder, 'keys'))).map((name) => join(folder, 'keys', name))
}
