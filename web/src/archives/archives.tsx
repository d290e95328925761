// The archives of the repository: a timeline, and a list by series.

import { signal } from '@preact/signals'
import type { Archive } from 'portaborg'
import { useMemo } from 'preact/hooks'
import { ROOT } from '../path'
import { go } from '../screens'
import type { Session } from '../session'
import { texts } from '../texts'
import { ago, moment, second, size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name, plain } from '../ui/name'
import { Button, Empty, Heading, Notice } from '../ui/parts'
import { grouped, hasText, latestFirst, type Group } from './groups'
import { Timeline } from './timeline'

type Order = 'series' | 'time'

const order = signal<Order>('series')
const wanted = signal('')
const showsDeleted = signal(false)
/** Series of which all archives are shown. */
const open = signal<ReadonlySet<string>>(new Set())

export function Archives({ session }: { session: Session }) {
  const t = texts.archives
  const deleted = session.deleted.value
  const all = useMemo(() => {
    const listed = [...session.archives.value, ...((showsDeleted.value && deleted) || [])]
    const text = wanted.value.trim()
    return text ? listed.filter((archive) => hasText(archive, text)) : listed
  }, [session.archives.value, deleted, showsDeleted.value, wanted.value])
  const groups = useMemo(() => grouped(all), [all])
  const gone = new Set(deleted?.map(({ id }) => id))
  const total = session.archives.value.length
  return (
    <div class="page">
      <div class="title">
        <Heading>{t.title}</Heading>
        <p class="faint">{t.summary(total, groups.length)}</p>
      </div>
      <Facts session={session} />
      {total === 0 && !showsDeleted.value ? (
        <Empty icon="archive" title={t.none}>
          {t.noneHint}
        </Empty>
      ) : (
        <Timeline groups={groups} onOpen={openArchive} />
      )}
      <div class="toolbar">
        <label class="search-field">
          <Icon name="search" />
          <span class="hidden-text">{t.filter}</span>
          <input type="search" placeholder={t.filter} value={wanted.value} onInput={(event) => (wanted.value = event.currentTarget.value)} />
        </label>
        <div class="segmented" role="group" aria-label={t.order}>
          <Button pressed={order.value === 'series'} onClick={() => (order.value = 'series')}>
            {t.bySeries}
          </Button>
          <Button pressed={order.value === 'time'} onClick={() => (order.value = 'time')}>
            {t.byTime}
          </Button>
        </div>
        <label class="check">
          <input type="checkbox" checked={showsDeleted.value} onChange={(event) => showDeleted(session, event.currentTarget.checked)} />
          {t.deleted}
        </label>
      </div>
      {all.length === 0 && total > 0 && <Empty icon="search" title={t.noMatch} />}
      {showsDeleted.value && deleted?.length === 0 && <p class="faint">{t.noDeleted}</p>}
      {order.value === 'series' ? (
        groups.map((group) => <Series key={group.key} group={group} gone={gone} />)
      ) : (
        <ul class="archive-list card">
          {latestFirst(all).map((archive) => (
            <Row key={archive.id} archive={archive} isGone={gone.has(archive.id)} withName />
          ))}
        </ul>
      )}
    </div>
  )
}

function openArchive(archive: Archive) {
  if (!archive.problem) go({ name: 'files', archive, folder: ROOT })
}

function showDeleted(session: Session, isWanted: boolean) {
  showsDeleted.value = isWanted
  if (isWanted && !session.deleted.value) void session.loadDeleted()
}

/** What the repository is, and what was wrong with it when it was opened. */
function Facts({ session }: { session: Session }) {
  const t = texts.archives
  const { repo, isUnprotected, place } = session
  const reach = place.kind === 'http' ? new URL(place.url).host : undefined
  return (
    <>
      <p class="facts">
        <span title={t.encryptionHint}>
          <Icon name="lock" /> {texts.encryptions[repo.encryption]}
        </span>
        <span title={repo.id}>
          <Icon name="key" /> {t.id} <code>{repo.id.slice(0, 12)}</code>
        </span>
        <span title={t.reachHint}>
          <Icon name="shield" /> {reach ? t.reach(reach) : t.reachNothing}
        </span>
      </p>
      {isUnprotected && <Notice icon="warning" kind="warn">{t.unprotected}</Notice>}
      {repo.warnings.length > 0 && (
        <Notice icon="warning" kind="warn">
          <p>{t.warnings}</p>
          <ul>
            {repo.warnings.slice(0, 10).map(({ message }) => (
              <li>
                <Name text={message} />
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}

/** How many archives of a series are shown at first. */
const FEW = 5

function Series({ group, gone }: { group: Group; gone: ReadonlySet<string> }) {
  const t = texts.archives
  const { key, name, host, user, archives } = group
  const isOpen = open.value.has(key) || archives.length <= FEW + 1
  const shown = isOpen ? archives : archives.slice(0, FEW)
  return (
    <section class="card series" aria-label={key === '\0' ? t.unusable : plain(name)}>
      <header>
        <h2>{key === '\0' ? t.unusable : <Name text={name} />}</h2>
        <p class="faint">
          {host && <Name text={user ? `${user}@${host}` : host} />}
          {host && ' · '}
          {t.count(archives.length)}
        </p>
      </header>
      <ul class="archive-list">
        {shown.map((archive) => (
          <Row key={archive.id} archive={archive} isGone={gone.has(archive.id)} />
        ))}
      </ul>
      {!isOpen && (
        <button type="button" class="more" onClick={() => (open.value = new Set(open.value).add(key))}>
          {t.showAll(archives.length)}
        </button>
      )}
    </section>
  )
}

function Row({ archive, isGone, withName = false }: { archive: Archive; isGone: boolean; withName?: boolean }) {
  const t = texts.archives
  const { id, name, time, size: bytes, nfiles, tags, comment, hostname, problem } = archive
  if (problem) {
    return (
      <li class="archive broken">
        <Icon name="warning" />
        <div class="grow">
          <p class="archive-when">{name ? <Name text={name} /> : <code>{id.slice(0, 12)}</code>}</p>
          <p class="problem">
            <Name text={problem.message} />
          </p>
        </div>
      </li>
    )
  }
  return (
    <li class={`archive ${isGone ? 'gone' : ''}`}>
      <button type="button" class="archive-open" onClick={() => openArchive(archive)}>
        <span class="archive-when">
          {withName && (
            <span class="archive-name">
              <Name text={name} />
              {hostname && <Name text={hostname} class="faint" />}
            </span>
          )}
          <time dateTime={time?.toISOString()} title={time && second(time)}>
            {time ? moment(time, true) : t.noTime}
          </time>
          <span class="faint">{time && ago(time)}</span>
        </span>
        <span class="archive-what">
          {isGone && <span class="chip gone">{t.isDeleted}</span>}
          {tags.map((tag) => (
            <span class="chip">
              <Name text={tag} />
            </span>
          ))}
          {comment && (
            <span class="comment" title={plain(comment)}>
              <Name text={comment.split('\n', 1)[0] ?? ''} />
            </span>
          )}
        </span>
        <span class="archive-size">
          <span>{size(bytes)}</span>
          <span class="faint">{t.files(nfiles)}</span>
        </span>
        <Icon name="forward" class="go" />
      </button>
    </li>
  )
}

