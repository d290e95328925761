// What a path was in each archive, the newest first, and what changed from one to the next.

import { MisuseError, type Archive, type Hit, type Item, type PortaborgError } from 'portaborg'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { baseName, itemKey, keyOf, parentOf, pathOf, type Path } from '../path'
import { restore, saveFile } from '../restore/tray'
import { go } from '../screens'
import type { Session } from '../session'
import { texts } from '../texts'
import { ago, dateOf, exactSize, moment, second, size } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'
import { Busy, Button, Empty, Heading, Notice } from '../ui/parts'

export function Versions({ session, path, from }: { session: Session; path: Path; from: Archive }) {
  const t = texts.versions
  const [hits, setHits] = useState<Hit[]>([])
  const [isBusy, setBusy] = useState(true)
  const [problems, setProblems] = useState<PortaborgError[]>([])
  const [showsSame, setShowsSame] = useState(false)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const load = async () => {
      const found: Hit[] = []
      const onProblem = (problem: PortaborgError) => setProblems((known) => [...known, problem])
      for await (const hit of session.repo.versions(path.bytes, { onProblem, signal })) {
        found.push(hit)
        setHits([...found])
      }
    }
    load()
      .catch((error: PortaborgError) => signal.aborted || error instanceof MisuseError || setProblems((known) => [...known, error]))
      .finally(() => signal.aborted || setBusy(false))
    return () => controller.abort()
  }, [keyOf(path)])
  const versions = useMemo(() => hits.map((hit, at) => ({ hit, change: changeOf(hit.item, hits[at + 1]?.item, isBusy) })), [hits, isBusy])
  const shown = showsSame ? versions : versions.filter(({ change, hit }, at) => change !== 'same' || at === 0 || hit.archive.id === from.id)
  return (
    <div class="page">
      <div class="title">
        <Button kind="quiet" icon="back" label={texts.back} onClick={() => history.back()} />
        <Heading>
          {t.title} <Name text={baseName(path.text)} />
        </Heading>
        <p class="faint">
          <Name text={path.text} />
        </p>
      </div>
      <div class="toolbar">
        {isBusy ? <Busy>{t.looking}</Busy> : <p class="faint">{t.found(hits.length)}</p>}
        <label class="check">
          <input type="checkbox" checked={showsSame} onChange={(event) => setShowsSame(event.currentTarget.checked)} />
          {t.showSame}
        </label>
      </div>
      {problems.length > 0 && (
        <Notice icon="warning" kind="bad">
          {texts.search.damaged(problems.length)}
        </Notice>
      )}
      {!isBusy && hits.length === 0 && <Empty icon="clock" title={t.none} />}
      <ol class="versions card">
        {shown.map(({ hit, change }) => (
          <Version key={hit.archive.id + itemKey(hit.item)} hit={hit} change={change} isHere={hit.archive.id === from.id} />
        ))}
      </ol>
    </div>
  )
}

type Change = 'first' | 'content' | 'attributes' | 'type' | 'same' | 'unknown'

/** What is new in an item, compared with the one before it. */
function changeOf(item: Item, before: Item | undefined, isBusy: boolean): Change {
  if (!before) return isBusy ? 'unknown' : 'first'
  if (item.type !== before.type) return 'type'
  const content = ({ chunks, target, size }: Item) => `${size} ${target ?? ''} ${chunks?.map(({ id }) => id).join() ?? ''}`
  if (content(item) !== content(before)) return 'content'
  const attributes = ({ mode, uid, gid, user, group, mtimeNs, acl, xattrs }: Item) =>
    JSON.stringify([mode, uid, gid, user, group, String(mtimeNs), acl, [...xattrs].map(([name, value]) => [name, [...value]])])
  return attributes(item) === attributes(before) ? 'same' : 'attributes'
}

function Version({ hit: { archive, item }, change, isHere }: { hit: Hit; change: Change; isHere: boolean }) {
  const t = texts.versions
  const { time, name } = archive
  const modified = dateOf(item.mtimeNs)
  const open = () =>
    item.type === 'directory'
      ? go({ name: 'files', archive, folder: pathOf(item) })
      : go({ name: 'files', archive, folder: parentOf(pathOf(item)), selected: itemKey(item) })
  return (
    <li class={`version ${change} ${isHere ? 'here' : ''}`}>
      <span class="version-dot" aria-hidden="true" />
      <div class="grow">
        <p class="strong">
          <button type="button" class="more" title={time && second(time)} onClick={open}>
            {time ? moment(time, true) : t.noTime}
          </button>{' '}
          <span class="faint">{time && ago(time)}</span>
        </p>
        <p class="faint">
          <Name text={name} />
          {isHere && ` · ${t.here}`}
        </p>
      </div>
      <div class="version-facts">
        <span class={`chip ${change}`}>{t.changes[change]}</span>
        <span title={item.type === 'file' ? exactSize(item.size) : undefined}>{item.type === 'file' ? size(item.size) : texts.types[item.type]}</span>
        <span class="faint">{modified && t.modified(moment(modified))}</span>
      </div>
      {item.type === 'file' ? (
        <Button icon="download" onClick={() => void saveFile(archive, item)}>
          {t.save}
        </Button>
      ) : item.type === 'directory' ? (
        <Button icon="download" onClick={() => restore(archive, [{ key: itemKey(item), path: pathOf(item), isFolder: true }])}>
          {t.restore}
        </Button>
      ) : (
        <Icon name="link" />
      )}
    </li>
  )
}
