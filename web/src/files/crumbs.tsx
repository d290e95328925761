// Where one is: the archives, the archive, and the folders down to this one.

import type { Archive } from 'portaborg'
import { baseName, keyOf, steps, type Path } from '../path'
import { go } from '../screens'
import { texts } from '../texts'
import { day } from '../ui/format'
import { Icon } from '../ui/icon'
import { Name } from '../ui/name'

export function Crumbs({ archive, path }: { archive: Archive; path: Path }) {
  const way = steps(path)
  return (
    <nav class="crumbs" aria-label={texts.files.crumbs}>
      <ol>
        <li>
          <button type="button" onClick={() => go({ name: 'archives' })}>
            {texts.archives.title}
          </button>
        </li>
        {way.map((step, number) => {
          const isLast = number === way.length - 1
          const name = number === 0 ? archive.name : baseName(step.text)
          const more = number === 0 && archive.time ? <span class="faint"> {day(archive.time)}</span> : null
          return (
            <li>
              <Icon name="forward" />
              {isLast ? (
                <span aria-current="page">
                  <Name text={name} />
                  {more}
                </span>
              ) : (
                <button type="button" onClick={() => go({ name: 'files', archive, folder: step, selected: keyOf(way[number + 1] ?? step) })}>
                  <Name text={name} />
                  {more}
                </button>
              )}
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
