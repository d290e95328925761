// Two archives compared: `node diff.mjs REPOSITORY EXPECTED`, where the second file has what the real client says, a line of JSON for
// each path, as pairs of archives and lines. What is wrong is printed.

import { readFile } from 'node:fs/promises'
import { openRepository, sources } from 'portaborg'

const [folder, expectedFile] = process.argv.slice(2)
const wrong = (text) => console.log(text)
const repo = await openRepository(await sources.directory(folder), { passphrase: process.env.BORG_PASSPHRASE })

for (const { a, b, lines } of JSON.parse(await readFile(expectedFile, 'utf8'))) {
  const wanted = lines.map((line) => JSON.parse(line))
  const found = []
  for await (const { path, change, changes, a: before, b: after } of repo.diff(`aid:${a}`, `aid:${b}`)) {
    const sign = before === undefined ? 'added' : after === undefined ? 'removed' : 'modified'
    if (sign !== change) wrong(`${path}: ${change}, with ${before?.path} and ${after?.path}`)
    if ((before ?? after).path !== path || (after ?? before).path !== path) wrong(`${path}: ${before?.path}, ${after?.path}`)
    const told = changes.map(({ type, added, removed }) => ({ type, ...(added === undefined ? {} : { added, removed }) }))
    found.push({ path, changes: told })
  }
  const plain = wanted.map(({ path, changes }) => ({
    path,
    changes: changes.map(({ type, added, removed }) => ({ type, ...(added === undefined ? {} : { added, removed }) })),
  }))
  // What is no text is not told in the same way.
  const text = ({ path, changes }) => `${path.replace(/[^ -~]/g, '?')}: ${changes.map((change) => JSON.stringify(change)).join(' ')}`
  const [theirs, ours] = [plain.map(text), found.map(text)]
  for (let number = 0; number < Math.max(theirs.length, ours.length); number += 1) {
    if (theirs[number] !== ours[number]) wrong(`${ours[number]}\n    instead of ${theirs[number]}`)
  }
}

// Whoever has seen enough ends it, and what makes no sense is refused.
for await (const difference of repo.diff(...first())) {
  if (!difference.path) wrong('a difference without a path')
  break
}
const nothing = await repo.diff('no-such-archive', 'none').next().catch((error) => error)
if (nothing.code !== 'Archive.DoesNotExist') wrong(`no such archive: ${nothing}`)
await repo.close()

function first() {
  return JSON.parse(process.env.FIRST).map((id) => `aid:${id}`)
}
