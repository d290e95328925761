// Asks for the passphrase, and for the key where the repository does not hold it.

import { RefusedError } from 'portaborg'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Session } from '../session'
import { texts, type Advice } from '../texts'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Busy, Button, Notice, Refusal } from '../ui/parts'
import { explain } from './refusal'
import { unlock, type Found } from './unlock'

export function Unlock({ found, onOpen, onLeave }: { found: Found; onOpen: (session: Session) => void; onLeave: () => void }) {
  const t = texts.unlock
  const { place, source } = found
  const [passphrase, setPassphrase] = useState('')
  const [key, setKey] = useState('')
  const [isShown, setShown] = useState(false)
  const [asksKey, setAsksKey] = useState(found.needsKey)
  const [isBusy, setBusy] = useState(false)
  const [advice, setAdvice] = useState<Advice | null>(found.needsKey ? texts.refusals.noKey : null)
  const field = useRef<HTMLInputElement>(null)
  const working = useRef<AbortController | null>(null)

  useEffect(() => {
    if (found.repo) void open(async () => found.repo!, true)
    else if (!found.needsKey) field.current?.focus()
    return () => working.current?.abort()
  }, [])

  const open = async (opening: (signal: AbortSignal) => ReturnType<typeof unlock>, isUnprotected = false) => {
    const { signal } = (working.current = new AbortController())
    setBusy(true)
    setAdvice(null)
    try {
      const opened = new Session(await opening(signal), place, source, isUnprotected)
      await opened.load()
      if (!signal.aborted) onOpen(opened)
    } catch (error) {
      if (signal.aborted) return setBusy(false)
      setAdvice(await explain(error, place, { hasKey: key.trim() !== '' }))
      if (error instanceof RefusedError && error.code === 'RepoKeyNotFoundError') setAsksKey(true)
      setBusy(false)
      setTimeout(() => field.current?.select())
    }
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (!isBusy) void open((signal) => unlock(source, passphrase, key, signal))
  }

  return (
    <form class="card unlock" onSubmit={submit}>
      <div class="row where">
        <Icon name={place.kind === 'http' || place.kind === 'served' ? 'globe' : place.kind === 'sample' ? 'archive' : 'folder'} />
        <p class="grow">
          <Name text={place.label} class="strong" />
        </p>
        <Button kind="quiet" onClick={onLeave}>
          {t.another}
        </Button>
      </div>
      {place.kind === 'sample' && (
        <Notice>
          {t.sample} <code>{texts.open.sample.passphrase}</code>
        </Notice>
      )}
      {advice && <Refusal advice={advice} />}
      <label>
        <span class="label">{t.passphrase}</span>
        <span class="with-button">
          <input
            ref={field}
            {...({ type: isShown ? 'text' : 'password' } as { type: 'text' })}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={passphrase}
            readOnly={isBusy}
            onInput={(event) => setPassphrase(event.currentTarget.value)}
          />
          <Button kind="quiet" icon="eye" pressed={isShown} label={t.show} onClick={() => setShown(!isShown)} />
        </span>
      </label>
      {asksKey ? (
        <Key value={key} onChange={setKey} />
      ) : (
        <button type="button" class="more" onClick={() => setAsksKey(true)}>
          {t.asksKey}
        </button>
      )}
      <div class="actions">
        {isBusy ? (
          <>
            <Busy>{t.opening}</Busy>
            <Button kind="quiet" onClick={() => working.current?.abort()}>
              {texts.cancel}
            </Button>
          </>
        ) : (
          <Button kind="primary" icon="key" submit>
            {t.button}
          </Button>
        )}
      </div>
    </form>
  )
}

function Key({ value, onChange }: { value: string; onChange: (key: string) => void }) {
  const t = texts.unlock.key
  const file = useRef<HTMLInputElement>(null)
  const take = async (input: HTMLInputElement) => {
    const [chosen] = input.files ?? []
    if (chosen && chosen.size <= LONGEST_KEY) onChange(await chosen.text())
    input.value = ''
  }
  return (
    <div class="key-field">
      <label>
        <span class="label">{t.label}</span>
        <textarea rows={5} spellcheck={false} autocomplete="off" placeholder={t.placeholder} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
      </label>
      <input ref={file} type="file" class="hidden key-file" tabIndex={-1} aria-hidden="true" onChange={(event) => void take(event.currentTarget)} />
      <div class="row">
        <Button icon="file" onClick={() => file.current?.click()}>
          {t.button}
        </Button>
        <p class="faint grow">{t.text}</p>
      </div>
    </div>
  )
}

/** No key file is longer, in bytes. */
const LONGEST_KEY = 1_000_000
