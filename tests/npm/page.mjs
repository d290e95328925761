// A page as a host of a script. A job has the name of a script, the fixture's `expected` JSON, a `key` if it needs one, `workers`,
// the address of the unpacked `repository`, and a kind of source that it is read through.

import { PortaborgError, openRepository, sources } from '/portaborg/browser.js'

let started = 0
globalThis.Worker = class extends Worker {
  constructor(...args) {
    super(...args)
    started += 1
  }
}

const SOURCES = {
  http: (address) => sources.http(address),
  /** As if a folder was chosen. */
  files: async (address) => {
    const files = []
    for await (const { name, blob } of all(address)) {
      const file = new File([blob], name.split('/').at(-1))
      files.push(Object.defineProperty(file, 'webkitRelativePath', { value: `backup/${name}` }))
    }
    return sources.files(files)
  },
  /** In the origin's private file system. */
  handle: async (address) => {
    const top = await navigator.storage.getDirectory()
    const root = await top.getDirectoryHandle(address.replace(/\W+/g, '-'), { create: true })
    for await (const { name, blob } of all(address)) {
      let folder = root
      for (const part of name.split('/').slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true })
      const writable = await (await folder.getFileHandle(name.split('/').at(-1), { create: true })).createWritable()
      await writable.write(blob)
      await writable.close()
    }
    return sources.handle(root)
  },
}

/** What is wrong, a line each. */
export async function work({ script, source, repository, key, ...rest }) {
  try {
    const { run } = await import(`/scripts/${script}`)
    const host = { openRepository, PortaborgError, sha256, startedWorkers: () => started }
    return await run({ ...host, source: () => SOURCES[source](repository), key: key ?? undefined, ...rest })
  } catch (error) {
    return [`${error?.stack ?? error}`]
  }
}

async function* all(address) {
  const { files } = await (await fetch(`${address}/portaborg-listing.json`)).json()
  for (const [name] of files) yield { name, blob: await (await fetch(`${address}/${name}`)).blob() }
}

async function sha256(pieces) {
  const digest = await crypto.subtle.digest('SHA-256', await new Blob(pieces).arrayBuffer())
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
