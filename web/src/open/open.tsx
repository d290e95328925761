// The first screen: choose a repository, then unlock it.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../screens'
import { session, Session } from '../session'
import { texts, type Advice } from '../texts'
import { ago } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Busy, Button, Heading, Notice, Refusal } from '../ui/parts'
import { About } from './about'
import { engine } from './engine'
import { pickFolder, picksFolders, placeOfDrop, placeOfInput } from './pick'
import { placeAt, reachOf, samplePlace, servedPlace, type Place } from './place'
import { isWithinReach } from './policy'
import { forget, placeOf, recents, remember, type Recent } from './recents'
import { explain } from './refusal'
import { Unlock } from './unlock-form'
import { find, type Found } from './unlock'

/** What this screen is about to do. */
type Step = { name: 'choose' } | { name: 'finding'; place: Place } | { name: 'unlock'; found: Found }

const step = signal<Step>({ name: 'choose' })
const refusal = signal<{ advice: Advice; place?: Place } | null>(null)

export function Open() {
  useEffect(() => {
    const served = servedPlace()
    if (served) void choose(served)
    else void engine().catch(() => {}) // it will be needed soon; what is wrong is told then
  }, [])
  const { value: now } = step
  return (
    <div class="open-page">
      <header class="open-head">
        <img src="./icon.svg" width="44" height="44" alt="" />
        <div>
          <Heading quiet>{texts.open.title}</Heading>
          <p>{texts.open.subtitle}</p>
        </div>
      </header>
      {now.name === 'unlock' ? (
        <Unlock found={now.found} onOpen={enter} onLeave={another} />
      ) : (
        <Choose busy={now.name === 'finding' ? now.place : undefined} />
      )}
      <Notice icon="shield" kind="trust">
        {texts.open.trust}
      </Notice>
      <About />
    </div>
  )
}

/** Looks at a place, and asks for its passphrase if there is a repository. */
async function choose(place: Place): Promise<void> {
  if (!isWithinReach(reachOf(place))) {
    // What was narrowed for another place is wide again only for a new page.
    location.reload()
    return
  }
  refusal.value = null
  step.value = { name: 'finding', place }
  finding?.abort()
  const { signal } = (finding = new AbortController())
  try {
    const found = await find(place, signal)
    if (!signal.aborted) step.value = { name: 'unlock', found }
  } catch (error) {
    if (signal.aborted) return
    const advice = await explain(error, place)
    refusal.value = { advice, place }
    step.value = { name: 'choose' }
  }
}

let finding: AbortController | null = null

async function enter(opened: Session): Promise<void> {
  session.value = opened
  go({ name: 'archives' }, { replace: true })
  await remember(opened.repo.id, opened.place)
}

/** The way back to the choice. */
function another(): void {
  step.value = { name: 'choose' }
}

function Choose({ busy }: { busy: Place | undefined }) {
  const t = texts.open
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const take = async (place: Place | undefined | Promise<Place | undefined>) => {
    try {
      const taken = await place
      if (taken) void choose(taken)
    } catch (error) {
      refusal.value = { advice: await explain(error, samplePlace('')) }
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    if (!event.dataTransfer) return
    void take(placeOfDrop(event.dataTransfer).then((place) => {
      if (!place) refusal.value = { advice: texts.refusals.noFolder }
      return place
    }))
  }
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    }
    const out = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    addEventListener('dragover', over)
    addEventListener('dragleave', out)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', out)
      removeEventListener('drop', drop)
    }
  }, [])
  return (
    <>
      {refusal.value && <Refusal advice={refusal.value.advice} />}
      <section class={`card drop ${isOver ? 'over' : ''}`} aria-label={t.folder.title}>
        {busy ? (
          <>
            <Busy>
              {t.looking} <Name text={busy.label} />
            </Busy>
            <Button kind="quiet" onClick={cancel}>
              {texts.cancel}
            </Button>
          </>
        ) : (
          <>
            <Icon name="drop" class="drop-icon" />
            <h2>{t.folder.title}</h2>
            <p>{t.folder.text}</p>
            <Button kind="primary" icon="folder" onClick={() => (picksFolders ? void take(pickFolder()) : input.current?.click())}>
              {t.folder.button}
            </Button>
            <input
              ref={input}
              type="file"
              class="hidden"
              tabIndex={-1}
              aria-hidden="true"
              {...{ webkitdirectory: true }}
              onChange={(event) => void take(placeOfInput(event.currentTarget))}
            />
          </>
        )}
      </section>
      <Address disabled={Boolean(busy)} />
      <Recents disabled={Boolean(busy)} onChoose={(recent) => void take(placeOf(recent))} />
      <section class="card row">
        <Icon name="archive" />
        <div class="grow">
          <h2>{t.sample.title}</h2>
          <p>
            {t.sample.text} <code>{t.sample.passphrase}</code>
          </p>
        </div>
        <Button disabled={Boolean(busy)} onClick={() => void choose(samplePlace(t.sample.label))}>
          {t.sample.button}
        </Button>
      </section>
    </>
  )
}

function cancel() {
  finding?.abort()
  step.value = { name: 'choose' }
}

function Address({ disabled }: { disabled: boolean }) {
  const t = texts.open.address
  const [url, setUrl] = useState('')
  const [user, setUser] = useState('')
  const [password, setPassword] = useState('')
  const [asksUser, setAsksUser] = useState(false)
  const submit = (event: Event) => {
    event.preventDefault()
    if (!url.trim()) return
    try {
      void choose(placeAt(url.trim(), user, password))
    } catch {
      refusal.value = { advice: texts.refusals.noAddress }
    }
  }
  return (
    <form class="card address" onSubmit={submit}>
      <div class="row">
        <Icon name="globe" />
        <label class="grow">
          <span class="label">{t.label}</span>
          <input
            type="text"
            inputMode="url"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder={t.placeholder}
            value={url}
            disabled={disabled}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
        <Button submit disabled={disabled || !url.trim()}>
          {t.button}
        </Button>
      </div>
      {asksUser ? (
        <div class="row fields">
          <label class="grow">
            <span class="label">{t.user}</span>
            <input type="text" autocomplete="username" autocapitalize="off" spellcheck={false} value={user} onInput={(event) => setUser(event.currentTarget.value)} />
          </label>
          <label class="grow">
            <span class="label">{t.password}</span>
            <input type="password" autocomplete="off" value={password} onInput={(event) => setPassword(event.currentTarget.value)} />
          </label>
        </div>
      ) : (
        <button type="button" class="more" onClick={() => setAsksUser(true)}>
          {t.asksUser}
        </button>
      )}
    </form>
  )
}

function Recents({ disabled, onChoose }: { disabled: boolean; onChoose: (recent: Recent) => void }) {
  const t = texts.open.recent
  const [known, setKnown] = useState<Recent[]>([])
  useEffect(() => void recents().then(setKnown), [])
  if (known.length === 0) return null
  const remove = (id: string) => {
    setKnown(known.filter((recent) => recent.id !== id))
    void forget(id)
  }
  return (
    <section class="card recents" aria-labelledby="recents-title">
      <h2 id="recents-title">{t.title}</h2>
      <ul>
        {known.map((recent) => (
          <li>
            <button type="button" class="recent" disabled={disabled} onClick={() => onChoose(recent)}>
              <Icon name={recent.handle ? 'folder' : 'globe'} />
              <Name text={recent.label} class="grow" />
              <span class="faint">{ago(new Date(recent.opened))}</span>
            </button>
            <Button kind="quiet" icon="close" label={t.forget(recent.label)} onClick={() => remove(recent.id)} />
          </li>
        ))}
      </ul>
    </section>
  )
}
