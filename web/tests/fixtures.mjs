// Repositories for the tests: those of the kit, with what is in them.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const kit = join(here, '../../tests/fixtures/borg2')
export const sample = join(here, '../public/sample')

const scratch = mkdtempSync(join(tmpdir(), 'portaborg-web-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** A repository of the kit, unpacked once: its folder, its passphrase, and what it is expected to hold. */
export function fixture(name) {
  const known = unpacked.get(name)
  if (known) return known
  const folder = mkdtempSync(join(scratch, `${name}-`))
  execFileSync('tar', ['-xf', join(kit, `${name}.tar`), '-C', folder])
  const expected = JSON.parse(readFileSync(join(kit, `${name}.expected.json`), 'utf8'))
  const made = { name, folder, repository: join(folder, 'repo'), passphrase: expected.passphrase ?? '', expected }
  unpacked.set(name, made)
  return made
}

const unpacked = new Map()

/** All files below a folder: pairs of a path and content. */
export function filesBelow(folder, prefix = '') {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix ? `${prefix}/${entry.name}` : entry.name
    return entry.isDirectory() ? filesBelow(folder, path) : [[path, readFileSync(join(folder, path))]]
  })
}

export function scratchFolder(name) {
  return mkdtempSync(join(scratch, `${name}-`))
}

export function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
