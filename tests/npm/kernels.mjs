// What takes the time in the module, in MB/s (10^6 bytes of plaintext a second of a processor's time): `node kernels.mjs FOLDER
// [PART OF A NAME]`, where the module lies that `cargo dist-web --kernels` builds.

import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, wanted = ''] = process.argv.slice(2)
const { default: init, Kernel, open_by_web_crypto } = await import(pathToFileURL(join(folder, 'module.js')))
const { Cipher } = await import(pathToFileURL(join(folder, 'cipher.js')))
await init({ module_or_path: await readFile(join(folder, 'module_bg.wasm')) })

/** Two chunks of the default chunker's usual length: words, and a program. */
const BYTES = 2 << 20
const words = text(BYTES)
const program = (await readFile(process.execPath)).subarray(20 << 20, (20 << 20) + BYTES)

console.log(`${cpus()[0].model}, Node ${process.version}, chunks of ${BYTES >> 20} MiB, MB/s`)
console.log(''.padEnd(28), 'words'.padStart(8), 'program'.padStart(8))
for (const name of Kernel.names().filter((name) => name.includes(wanted))) {
  const isTime = name === 'argon2'
  const speeds = (isTime ? [words] : [words, program]).map((data) => {
    const kernel = new Kernel(name, data)
    const millis = best(() => kernel.run())
    kernel.free()
    return isTime ? `${millis.toFixed(0)} ms` : speed(millis)
  })
  console.log(name.padEnd(28), ...speeds.map((speed) => String(speed).padStart(8)))
}
const cipher = Cipher.ofPlatform()
let fastest = Infinity
for (let round = 0; round < 5; round += 1) {
  const began = cpuMillis()
  await open_by_web_crypto(cipher, program, 8)
  fastest = Math.min(fastest, (cpuMillis() - began) / 8)
}
console.log('aes256-ocb by Web Crypto'.padEnd(28), ''.padStart(8), speed(fastest).padStart(8))

function speed(millis) {
  return (BYTES / millis / 1000).toFixed(0)
}

/** The shortest of the runs that half a second has room for, in milliseconds; compilers need some of them. */
function best(run) {
  let shortest = Infinity
  for (let left = 500, runs = 0; left > 0 || runs < 5; runs += 1) {
    const began = cpuMillis()
    run()
    const millis = cpuMillis() - began
    shortest = Math.min(shortest, millis)
    left -= millis
  }
  return shortest
}

/** Time of processors: what else a machine does does not count. */
function cpuMillis() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Words as in prose: few of them often, many seldom. */
function text(length) {
  let state = 7
  const next = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const word = () => String.fromCharCode(...Array.from({ length: 3 + next(7) }, () => 97 + next(26)))
  const all = Array.from({ length: 4000 }, word)
  let text = ''
  while (text.length < length) text += `${all[next(3) === 0 ? next(4000) : next(200)]} `
  return new TextEncoder().encode(text.slice(0, length))
}
