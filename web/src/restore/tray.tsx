// Restoring: what was asked for, and what is going on. It goes on while one looks elsewhere.

import { signal } from '@preact/signals'
import type { Archive, Item } from 'portaborg'
import { baseName } from '../path'
import { texts } from '../texts'
import { Ask } from './ask'
import type { Ticked } from './basket'
import { chooseTarget } from './download'
import { Job } from './job'
import { JobCard } from './job-card'
import { safeName } from './names'

export const jobs = signal<Job[]>([])
const asked = signal<{ archive: Archive; ticked: Ticked[] } | null>(null)

export function Tray() {
  const { value } = asked
  return (
    <>
      {value && <Ask {...value} onClose={() => (asked.value = null)} onStart={start} />}
      {jobs.value.length > 0 && (
        <section class="tray" aria-label={texts.restore.tray}>
          {jobs.value.map((job) => (
            <JobCard job={job} onClose={() => (jobs.value = jobs.value.filter((other) => other !== job))} />
          ))}
        </section>
      )}
    </>
  )
}

/** Asks how something is to be restored. */
export function restore(archive: Archive, ticked: Ticked[]): void {
  asked.value = { archive, ticked }
}

/** Saves the content of one file; must be called by a click. */
export async function saveFile(archive: Archive, item: Item): Promise<void> {
  const name = safeName(baseName(item.path))
  let job: Job | undefined
  const target = await chooseTarget(name, () => job!)
  if (!target) return
  job = new Job(baseName(item.path), target.name)
  job.total.value = item.size
  const { signal } = job
  start(job, () => target.take(archive.open(item, { signal })))
}

function start(job: Job, work: () => Promise<void>): void {
  jobs.value = [...jobs.value, job]
  void job.run(work)
}
