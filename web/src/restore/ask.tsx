// How something is to be restored: as one file, or into a folder.

import type { Archive } from 'portaborg'
import { useEffect, useState } from 'preact/hooks'
import { baseName, isWithin } from '../path'
import { session } from '../session'
import { texts } from '../texts'
import { size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Button, Dialog, Notice } from '../ui/parts'
import { countBelow, type Sum, type Ticked } from './basket'
import { chooseTarget, isGathered } from './download'
import { restoreInto, type IfThere } from './into-folder'
import { Job } from './job'
import { safeName } from './names'

interface AskProps {
  archive: Archive
  ticked: Ticked[]
  onClose: () => void
  onStart: (job: Job, work: () => Promise<void>) => void
}

type How = 'zip' | 'tar' | 'folder'

export function Ask({ archive, ticked, onClose, onStart }: AskProps) {
  const t = texts.restore
  const [how, setHow] = useState<How>('zip')
  const [ifThere, setIfThere] = useState<IfThere>('number')
  const [error, setError] = useState('')
  const sum = useSum(archive, ticked)
  const damaged = useDamaged(archive, ticked)
  const name = fileName(archive, ticked)
  const paths = ticked.filter(({ key }) => key !== '').map(({ path }) => path.bytes)
  const options = paths.length > 0 ? { paths } : {}

  const start = async () => {
    try {
      const job = how === 'folder' ? await startFolder() : await startFile(how)
      if (!job) return
      job.total.value = sum?.bytes
      onClose()
    } catch (error) {
      setError(error instanceof Error ? error.message : String(error))
    }
  }
  const startFile = async (kind: 'zip' | 'tar') => {
    let job: Job | undefined
    const target = await chooseTarget(`${name}.${kind}`, () => job!)
    if (!target) return undefined
    job = new Job(titleOf(ticked, archive), target.name)
    const { onProblem, signal } = job
    onStart(job, () => target.take(archive[kind]({ ...options, onProblem, signal })))
    return job
  }
  const startFolder = async () => {
    let folder: FileSystemDirectoryHandle
    try {
      folder = await window.showDirectoryPicker!({ id: 'restore', mode: 'readwrite' })
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return undefined
      throw error
    }
    const job = new Job(titleOf(ticked, archive), folder.name)
    onStart(job, () => restoreInto(job, archive, ticked, folder, ifThere))
    return job
  }

  const canFolder = Boolean(window.showDirectoryPicker)
  return (
    <Dialog title={t.title} onClose={onClose}>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault()
          void start()
        }}
      >
        <p class="ask-what">
          <Name text={titleOf(ticked, archive)} class="strong" />
          <span class="faint">{sum ? t.sum(sum.items, size(sum.bytes)) : t.counting}</span>
        </p>
        {damaged > 0 && (
          <Notice icon="warning" kind="bad">
            {t.damaged(damaged)}
          </Notice>
        )}
        <fieldset class="ways">
          <legend class="hidden-text">{t.how}</legend>
          {(['zip', 'tar', 'folder'] as const).map((way) => (
            <label class={`way ${how === way ? 'chosen' : ''}`}>
              <input type="radio" name="how" value={way} checked={how === way} disabled={way === 'folder' && !canFolder} onChange={() => setHow(way)} />
              <Icon name={way === 'folder' ? 'folder' : 'archive'} />
              <span>
                <span class="strong">{t.ways[way].title}</span>
                <span class="faint">{way === 'folder' && !canFolder ? t.noFolder : t.ways[way].text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {how === 'folder' && (
          <label class="if-there">
            <span class="label">{t.ifThere.label}</span>
            <select value={ifThere} onChange={(event) => setIfThere(event.currentTarget.value as IfThere)}>
              {(['number', 'skip', 'replace'] as const).map((choice) => (
                <option value={choice}>{t.ifThere[choice]}</option>
              ))}
            </select>
          </label>
        )}
        {how !== 'folder' && isGathered() && (sum?.bytes ?? 0) > MUCH && (
          <Notice icon="warning" kind="warn">
            {t.memory}
          </Notice>
        )}
        {error && (
          <Notice icon="warning" kind="bad">
            {error}
          </Notice>
        )}
        <div class="actions">
          <Button kind="primary" icon="download" submit>
            {how === 'folder' ? t.chooseFolder : t.save}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {texts.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** What is held in memory without a warning, in bytes. */
const MUCH = 256_000_000

/** How much it is, counted if nobody has yet. */
function useSum(archive: Archive, ticked: Ticked[]): Sum | undefined {
  const [sum, setSum] = useState<Sum | undefined>(() => added(ticked))
  useEffect(() => {
    if (sum) return
    const controller = new AbortController()
    const load = async () => {
      const sums = []
      for (const { path, sum } of ticked) sums.push(sum ?? (await countBelow(archive, path, controller.signal)))
      setSum(sums.reduce((a, b) => ({ items: a.items + b.items, bytes: a.bytes + b.bytes })))
    }
    load().catch(() => {}) // it is told when it is restored
    return () => controller.abort()
  }, [])
  return sum
}

function added(ticked: Ticked[]): Sum | undefined {
  let total: Sum | undefined = { items: 0, bytes: 0 }
  for (const { sum } of ticked) total = total && sum && { items: total.items + sum.items, bytes: total.bytes + sum.bytes }
  return total
}

/** How many of the files are known to be damaged. */
function useDamaged(archive: Archive, ticked: Ticked[]): number {
  const files = session.value?.marks(archive).files.value
  return [...(files?.keys() ?? [])].filter((path) => ticked.some(({ path: { text } }) => isWithin(text, path))).length
}

function titleOf(ticked: Ticked[], archive: Archive): string {
  const [first] = ticked
  if (ticked.length !== 1 || !first) return texts.restore.several(ticked.length)
  return first.key === '' ? archive.name : baseName(first.path.text)
}

function fileName(archive: Archive, ticked: Ticked[]): string {
  const date = archive.time ? `-${archive.time.toISOString().slice(0, 10)}` : ''
  const [first] = ticked
  const part = ticked.length === 1 && first && first.key !== '' ? `-${baseName(first.path.text)}` : ''
  return safeName(`${archive.name}${date}${part}`)
}
