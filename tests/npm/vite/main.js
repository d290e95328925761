// A page that is bundled: it opens a repository beside it over HTTP, lists, and extracts a file. What is wrong is in `window.wrong`.

import { openRepository, sources } from 'portaborg'

async function run() {
  const wrong = []
  const { passphrase, archives } = await (await fetch('./expected.json')).json()
  const source = await sources.http('./repository')
  const repo = await openRepository(source, { passphrase, workers: 2 })
  for await (const archive of repo.archives()) {
    const { items } = archives.find(({ id }) => id === archive.id)
    const paths = []
    for await (const item of archive.items()) paths.push(item.path)
    if (paths.join() !== items.map(({ path }) => path).join()) wrong.push(`items: ${paths}`)
    const { path, sha256 } = items.findLast(({ size, sha256 }) => sha256 && size > 0)
    const content = await new Response(archive.open(path)).arrayBuffer()
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content))
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
    if (hex !== sha256) wrong.push(`${path} is different`)
  }
  if (!(source.stats.requests > 3)) wrong.push(`${source.stats.requests} requests`)
  await repo.close()
  return wrong
}

run().then(
  (wrong) => (window.wrong = wrong),
  (error) => (window.wrong = [`${error?.stack ?? error}`]),
)
