// The whole repository, verified.

import { signal } from '@preact/signals'
import type { Report, VerifyProgress } from 'portaborg'
import { ROOT, parentOf, pathFrom } from '../path'
import { go } from '../screens'
import type { Session } from '../session'
import { texts } from '../texts'
import { count, moment, span } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Button, Heading, Notice, Progress } from '../ui/parts'

type State =
  | { name: 'idle' }
  | { name: 'running'; progress: VerifyProgress | null; began: number; controller: AbortController }
  | { name: 'done'; report: Report; seconds: number }
  | { name: 'failed'; error: unknown }

const state = signal<State>({ name: 'idle' })
const withData = signal(true)

export function Verify({ session }: { session: Session }) {
  const t = texts.verify
  const { value: now } = state
  return (
    <div class="page verify">
      <div class="title">
        <Heading>{t.title}</Heading>
        <p>{t.text}</p>
      </div>
      {now.name !== 'running' && (
        <form
          class="card verify-form"
          onSubmit={(event) => {
            event.preventDefault()
            void run(session)
          }}
        >
          <fieldset class="ways">
            <legend class="hidden-text">{t.depth}</legend>
            {[true, false].map((data) => (
              <label class={`way ${withData.value === data ? 'chosen' : ''}`}>
                <input type="radio" name="depth" checked={withData.value === data} onChange={() => (withData.value = data)} />
                <Icon name={data ? 'shield' : 'server'} />
                <span>
                  <span class="strong">{data ? t.data.title : t.packs.title}</span>
                  <span class="faint">{data ? t.data.text : t.packs.text}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <div class="actions">
            <Button kind="primary" icon="shield" submit>
              {now.name === 'idle' ? t.start : t.again}
            </Button>
          </div>
        </form>
      )}
      {now.name === 'running' && <Running progress={now.progress} began={now.began} onStop={() => now.controller.abort()} />}
      {now.name === 'failed' && (
        <Notice icon="warning" kind="bad">
          <p>{t.failed}</p>
          <p class="faint">{now.error instanceof Error ? now.error.message : String(now.error)}</p>
        </Notice>
      )}
      {now.name === 'done' && <Result report={now.report} seconds={now.seconds} session={session} />}
    </div>
  )
}

async function run(session: Session): Promise<void> {
  const controller = new AbortController()
  const began = performance.now()
  const put = (progress: VerifyProgress | null) => (state.value = { name: 'running', progress, began, controller })
  put(null)
  try {
    const report = await session.repo.verify({ data: withData.value, onProgress: put, signal: controller.signal })
    state.value = { name: 'done', report, seconds: (performance.now() - began) / 1000 }
    mark(session, report)
  } catch (error) {
    state.value = controller.signal.aborted ? { name: 'idle' } : { name: 'failed', error }
  }
}

/** Damage that was found is shown among the files, too. */
function mark(session: Session, report: Report): void {
  session.problems.value = report.objects
  for (const { id, problems, files } of report.archives) {
    const archive = session.find(id)
    if (!archive) continue
    const marks = session.marks(archive)
    for (const problem of problems) marks.addProblem(problem)
    for (const { path, broken, problem } of files) marks.add({ path, broken, problem, parts: [] })
  }
}

function Running({ progress, began, onStop }: { progress: VerifyProgress | null; began: number; onStop: () => void }) {
  const t = texts.verify
  const part = progress && progress.total > 0 ? progress.done / progress.total : undefined
  const seconds = (performance.now() - began) / 1000
  const step = progress ? STEPS.indexOf(progress.step) : 0
  return (
    <section class="card verify-run" role="status" aria-label={t.title}>
      <ol class="verify-steps">
        {STEPS.filter((name) => name !== 'chunks' || withData.value).map((name) => (
          <li class={STEPS.indexOf(name) < step ? 'over' : STEPS.indexOf(name) === step ? 'now' : ''}>
            <Icon name={STEPS.indexOf(name) < step ? 'check' : 'forward'} />
            {t.steps[name]}
          </li>
        ))}
      </ol>
      <Progress value={part} label={t.progress} />
      <p class="faint numbers">
        <span>{progress ? t.of(count(progress.done), count(progress.total)) : t.begins}</span>
        <span>{span(seconds)}</span>
      </p>
      <div class="actions">
        <Button onClick={onStop}>{texts.stop}</Button>
      </div>
    </section>
  )
}

const STEPS: VerifyProgress['step'][] = ['index', 'packs', 'chunks', 'archives']

function Result({ report, seconds, session }: { report: Report; seconds: number; session: Session }) {
  const t = texts.verify
  return (
    <section class="card verify-result">
      <p class={`verdict ${report.ok ? 'good' : 'bad'}`} role="status">
        <Icon name={report.ok ? 'check' : 'warning'} />
        <span class="strong">{report.ok ? t.ok : t.notOk}</span>
      </p>
      <p class="faint">{t.counted(count(report.files), count(report.chunks), span(seconds))}</p>
      {report.archives.length > 0 && (
        <>
          <h2>{t.archives}</h2>
          <ul class="verify-archives">
            {report.archives.map(({ id, name, problems, files }) => {
              const archive = session.find(id)
              const open = (folder = ROOT) => archive && !archive.problem && go({ name: 'files', archive, folder })
              return (
                <li>
                  <button type="button" class="more" onClick={() => open()}>
                    <Name text={name || id.slice(0, 12)} />
                  </button>{' '}
                  <span class="faint">{archive?.time && moment(archive.time, true)}</span>
                  <ul>
                    {problems.slice(0, MOST).map(({ message }) => (
                      <li class="problem">
                        <Name text={message} />
                      </li>
                    ))}
                    {files.slice(0, MOST).map(({ path, broken }) => (
                      <li>
                        <button type="button" class="more" onClick={() => open(parentOf(pathFrom(path)))}>
                          <Name text={path} />
                        </button>{' '}
                        <span class="faint">{t.broken(broken)}</span>
                      </li>
                    ))}
                    {files.length > MOST && <li class="faint">{t.more(files.length - MOST)}</li>}
                  </ul>
                </li>
              )
            })}
          </ul>
        </>
      )}
      {report.objects.length > 0 && (
        <>
          <h2>{t.objects}</h2>
          <ul class="verify-objects">
            {report.objects.slice(0, MOST).map(({ message }) => (
              <li>
                <Name text={message} />
              </li>
            ))}
            {report.objects.length > MOST && <li class="faint">{t.more(report.objects.length - MOST)}</li>}
          </ul>
        </>
      )}
      {!report.ok && (
        <Notice>
          {t.advice}
        </Notice>
      )}
    </section>
  )
}

const MOST = 100
