// A large repository on a server that is 20 ms away: `node latency.mjs REPOSITORY ARCHIVE PATH`. What is wrong is printed: too many
// requests, at all or at once, and too many bytes. With `TIMES`, what it took is told, too.

import { performance } from 'node:perf_hooks'
import { openRepository, sources } from 'portaborg'
import { Server, plain, rest } from './server.mjs'

const [folder, wanted, path] = process.argv.slice(2)
const wrong = (text) => console.log(text)
const passphrase = process.env.BORG_PASSPHRASE
const USER = `Basic ${btoa('me:secret')}`
const DELAY = 20
const AT_ONCE = 6
/** Requests and bytes for the list of archives, and for one file out of the middle of the large one. */
const LIMITS = {
  folder: { list: [150, 12e6], file: [60, 16e6] },
  borgstore: { list: [30, 12e6], file: [45, 16e6] },
}

for (const [name, answer] of [['folder', plain(folder)], ['borgstore', rest(folder, USER)]]) {
  const server = new Server(answer, DELAY)
  await server.run(async (url) => {
    const source = await sources.http(url.replace('//', '//me:secret@'))
    const used = usage(source, server)
    const repo = await openRepository(source, { passphrase })
    const archives = []
    for await (const archive of repo.archives()) archives.push(archive)
    if (archives.length !== 100) wrong(`${name}: ${archives.length} archives`)
    used(name, 'list')
    const archive = archives.find(({ id }) => id === wanted)
    const bytes = await new Response(archive.open(path)).text()
    if (bytes !== `content of ${path}\n`) wrong(`${name}: ${path} has ${bytes.slice(0, 100)}`)
    used(name, 'file')
    // Nothing goes on behind the back of whoever has what he wanted.
    const { requests } = source.stats
    await new Promise((wake) => setTimeout(wake, 10 * DELAY))
    await repo.archive(`aid:${wanted}`)
    const more = source.stats.requests - requests
    if (more > LIMITS[name].list[0]) wrong(`${name}: ${more} requests more`)
    await repo.close()
  })
  if (server.most > AT_ONCE) wrong(`${name}: ${server.most} requests at once`)
}

function usage(source, server) {
  let began = performance.now()
  let [requests, bytes] = [0, 0]
  return (name, step) => {
    const used = [source.stats.requests - requests, server.bytes - bytes]
    const seconds = ((performance.now() - began) / 1000).toFixed(2)
    const [mostRequests, mostBytes] = LIMITS[name][step]
    const told = `${name}, ${step}: ${used[0]} requests, ${used[1]} bytes, ${seconds} s`
    if (used[0] > mostRequests || used[1] > mostBytes) wrong(told)
    else if (process.env.TIMES) console.error(told)
    ;[began, requests, bytes] = [performance.now(), source.stats.requests, server.bytes]
  }
}
