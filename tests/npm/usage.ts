// Every call of the package as its types have it; it is compiled, and not run.

import {
  DamagedError,
  MisuseError,
  PortaborgError,
  openRepository,
  sources,
  type Archive,
  type Damage,
  type HttpSource,
  type Item,
  type Report,
  type Repository,
  type Source,
  type VerifyProgress,
} from 'portaborg'
import { openRepository as openSlim } from 'portaborg/slim'

export async function all(folder: FileSystemDirectoryHandle, input: HTMLInputElement, signal: AbortSignal): Promise<void> {
  const own: Source = {
    list: async (prefix: string) => [{ name: `${prefix}/x`, size: 1 }],
    read: async (_name: string, offset: number, length: number) => (offset > 0 ? null : new Uint8Array(length)),
  }
  const http: HttpSource = await sources.http(new URL('https://backup.example/repo'), { headers: { 'X-A': 'b' } })
  const requests: number = http.stats.requests
  const places: Source[] = [
    own,
    http,
    await sources.directory('/mnt/backup'),
    await sources.handle(folder),
    await sources.files(input.files ?? []),
  ]
  const repo: Repository = await openRepository(places[0] ?? own, { passphrase: 'secret', key: undefined, workers: 2, signal })
  await openRepository(own, { passphrase: new Uint8Array(requests), wasm: new URL('https://backup.example/module.wasm') })
  await openSlim(own, { wasm: new Uint8Array(8), worker: () => new Worker('/worker.js', { type: 'module' }) })
  const hash: 'sha256' | 'blake3' = repo.idHash
  const warnings: string[] = repo.warnings.map((warning: PortaborgError) => `${warning.code} ${warning.object} ${hash}`)
  for await (const archive of repo.archives({ deleted: true, signal })) await useArchive(archive, signal)
  await useArchive(await repo.archive('aid:1234abcd', { signal }), signal)
  for await (const hit of repo.search(/x/i, { archives: [warnings[0] ?? ''], limit: 3, signal })) useItem(hit.item)
  for await (const hit of repo.versions('a/b', { onProblem: (problem) => console.warn(problem.code) })) useItem(hit.item)
  const onProgress = (progress: VerifyProgress): void => console.log(progress.step, progress.done / progress.total)
  const report: Report = await repo.verify({ data: true, onProgress, signal })
  const files: string[] = report.archives.flatMap((archive) => archive.files.map((file) => file.path))
  if (report.ok && files.length > 0) throw new MisuseError(...([] as unknown as ConstructorParameters<typeof MisuseError>))
  await repo.close()
}

async function useArchive(archive: Archive, signal: AbortSignal): Promise<void> {
  const time: number | undefined = archive.time?.getTime()
  console.log(archive.id, archive.name, time, archive.tags.join(), archive.size + archive.nfiles, archive.problem?.message)
  const onProblem = (problem: PortaborgError, item?: Item): void => console.warn(problem instanceof DamagedError, item?.path)
  for await (const item of archive.items({ under: 'home', match: ['*.txt', /x/], depth: 2, onProblem, signal })) useItem(item)
  const { items, total }: { items: Item[]; total: number } = await archive.dir('home', { sort: '-mtime', offset: 0, count: total1 })
  const [first] = items
  if (first && total > 0) {
    const stream: ReadableStream<Uint8Array> = archive.open(first, { range: { start: 0, end: 10 }, signal })
    await stream.pipeTo(new WritableStream<Uint8Array>())
    await new Response(archive.open(first.pathBytes) as BodyInit).blob()
  }
  const sink = { item: async (item: Item) => (item.chunks ? new WritableStream<Uint8Array>() : undefined) }
  const done: { items: number; bytes: number } = await archive.restore({ paths: ['home'], sink, onProblem, signal })
  const both: ReadableStream<Uint8Array>[] = [archive.tar({ paths: [first ?? 'x'] }), archive.zip({ onProblem })]
  for await (const damage of archive.damage({ onProgress: ({ bytes }) => console.log(bytes - done.bytes), signal })) {
    const { parts, broken }: Damage = damage
    console.log(parts.length, broken, both.length)
  }
}

const total1 = 100

function useItem(item: Item): void {
  const time: bigint = item.mtimeNs - (item.atimeNs ?? 0n)
  const names: string[] = [...item.xattrs.keys()]
  const chunk: { id: string; size: number } | undefined = item.chunks?.[0]
  console.log(item.path, time, names, chunk?.id, item.acl.access, item.flags ?? 0, JSON.stringify(item))
  // @ts-expect-error nothing of an item can be changed
  item.path = 'x'
}
