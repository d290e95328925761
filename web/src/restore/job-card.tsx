// One thing that is being restored, as a card: how far it is, and in the end what became of it.

import { useState } from 'preact/hooks'
import { texts } from '../texts'
import { count, rate, size, span } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Button, Dialog, Progress } from '../ui/parts'
import { isOver, type Job, type Remark } from './job'

export function JobCard({ job, onClose }: { job: Job; onClose: () => void }) {
  const t = texts.restore
  const [showsReport, setShowsReport] = useState(false)
  const state = job.state.value
  const remarks = job.remarks.value
  const bad = remarks.filter(({ kind }) => kind !== 'renamed').length
  const over = isOver(state)
  const icon = !over ? 'download' : state === 'done' && bad === 0 ? 'check' : state === 'cancelled' ? 'close' : 'warning'
  return (
    <article class={`job ${state} ${bad > 0 ? 'with-remarks' : ''}`}>
      <div class="job-head">
        <Icon name={icon} />
        <div class="grow">
          <p class="strong">
            <Name text={job.title} />
          </p>
          <p class="faint">
            {t.to} <Name text={job.place} />
          </p>
        </div>
        {state === 'running' && <Button kind="quiet" icon="pause" label={t.pause} onClick={() => job.pause()} />}
        {state === 'paused' && <Button kind="quiet" icon="play" label={t.resume} onClick={() => job.resume()} />}
        {over ? (
          <Button kind="quiet" icon="close" label={t.dismiss} onClick={onClose} />
        ) : (
          <Button kind="quiet" icon="close" label={t.cancelJob} onClick={() => job.cancel()} />
        )}
      </div>
      {over ? <Outcome job={job} bad={bad} /> : <Running job={job} />}
      {remarks.length > 0 && (
        <Button kind="quiet" icon={bad > 0 ? 'warning' : 'info'} onClick={() => setShowsReport(true)}>
          {t.report(remarks.length)}
        </Button>
      )}
      {showsReport && <Report remarks={remarks} onClose={() => setShowsReport(false)} />}
    </article>
  )
}

function Running({ job }: { job: Job }) {
  const t = texts.restore
  const bytes = job.bytes.value
  const total = job.total.value
  const speed = job.rate.value
  const left = total !== undefined && speed ? Math.max(0, total - bytes) / speed : undefined
  return (
    <>
      <Progress value={total ? bytes / total : undefined} label={t.progress} />
      <p class="faint numbers">
        <span>{total === undefined ? size(bytes) : t.of(size(Math.min(bytes, total)), size(total))}</span>
        <span>
          {job.state.value === 'paused' ? t.paused : speed !== undefined && rate(speed)}
          {job.state.value !== 'paused' && left !== undefined && ` · ${t.left(span(left))}`}
        </span>
      </p>
    </>
  )
}

function Outcome({ job, bad }: { job: Job; bad: number }) {
  const t = texts.restore
  switch (job.state.value) {
    case 'done':
      return <p role="status">{bad > 0 ? t.doneWith(bad) : t.done(size(job.bytes.value), span(job.took.value))}</p>
    case 'cancelled':
      return <p>{t.cancelled}</p>
    default: {
      const error = job.error.value
      return (
        <p class="problem">
          {t.failed} <Name text={error instanceof Error ? error.message : String(error)} />
        </p>
      )
    }
  }
}

function Report({ remarks, onClose }: { remarks: Remark[]; onClose: () => void }) {
  const t = texts.restore
  return (
    <Dialog title={t.reportTitle} onClose={onClose}>
      {(['damaged', 'left-out', 'renamed'] as const).map((kind) => {
        const some = remarks.filter((remark) => remark.kind === kind)
        if (some.length === 0) return null
        return (
          <section class="remarks">
            <h3>
              {t.remarks[kind]} <span class="faint">{count(some.length)}</span>
            </h3>
            <ul tabIndex={0}>
              {some.slice(0, MOST).map(({ path, text }) => (
                <li>
                  <Name text={path} class="strong" />
                  <span class="faint">
                    <Name text={text} />
                  </span>
                </li>
              ))}
              {some.length > MOST && <li>{t.more(some.length - MOST)}</li>}
            </ul>
          </section>
        )
      })}
      <p class="faint">{t.browserLimits}</p>
    </Dialog>
  )
}

const MOST = 500
