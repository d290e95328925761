// A repository that `portaborg web` serves: `node served.mjs URL TOKEN EXPECTED`. What is wrong is printed.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { openRepository, sources } from 'portaborg'

const [url, token, expectedFile] = process.argv.slice(2)
const { passphrase, archives } = JSON.parse(await readFile(expectedFile, 'utf8'))
const wrong = (text) => console.log(text)

const refused = await sources.http(url).catch((error) => error)
if (!/401/.test(refused.message)) wrong(`without the token: ${refused}`)

const source = await sources.http(url, { headers: { Authorization: `Bearer ${token}` } })
const repo = await openRepository(source, { passphrase })
let files = 0
for await (const archive of repo.archives()) {
  const { items } = archives.find(({ id }) => id === archive.id)
  let number = 0
  for await (const item of archive.items()) {
    const { path, sha256 } = items[number++]
    if (item.path !== path) wrong(`${item.path} instead of ${path}`)
    if (!sha256) continue
    files += 1
    const hash = createHash('sha256')
    for await (const piece of archive.open(item)) hash.update(piece)
    if (hash.digest('hex') !== sha256) wrong(`${path} is different`)
  }
}
if (files === 0) wrong('no file was compared')
const report = await repo.verify({ data: true })
if (!report.ok) wrong(JSON.stringify(report))
await repo.close()
