// A line of time, with a lane for each series and a dot for each archive. The list below it says the same in words.

import type { Archive } from 'portaborg'
import { texts } from '../texts'
import { moment, month, shortDay } from '../ui/format'
import { Name, plain } from '../ui/name'
import type { Group } from './groups'

export function Timeline({ groups, onOpen }: { groups: readonly Group[]; onOpen: (archive: Archive) => void }) {
  const lanes = groups.filter(({ key }) => key !== '\0').slice(0, MOST_LANES)
  const times = lanes.flatMap(({ archives }) => archives.flatMap(({ time }) => (time ? [time.getTime()] : [])))
  if (times.length < 3) return null
  const [first, last] = [Math.min(...times), Math.max(...times)]
  if (last - first < SHORTEST) return null
  const at = (time: number) => (last === first ? 50 : 2 + ((time - first) / (last - first)) * 96)
  return (
    <figure class="card timeline" aria-hidden="true">
      <div class="lanes">
        {lanes.map(({ key, name, archives }) => (
          <div class="lane" key={key}>
            <span class="lane-name">
              <Name text={name} />
            </span>
            <span class="lane-line">
              {archives.map((archive) =>
                archive.time ? (
                  <span
                    key={archive.id}
                    class="dot"
                    style={{ left: `${at(archive.time.getTime())}%` }}
                    title={`${plain(name)}, ${moment(archive.time, true)}`}
                    onClick={() => onOpen(archive)}
                  />
                ) : null,
              )}
            </span>
          </div>
        ))}
        <div class="lane axis">
          <span class="lane-name faint">{lanes.length < groups.length ? texts.archives.moreSeries(groups.length - lanes.length) : ''}</span>
          <span class="lane-line">
            {ticks(first, last).map(({ time, label }) => (
              <span class={`tick ${at(time) > 86 ? 'last' : at(time) < 12 ? 'first' : ''}`} style={{ left: `${at(time)}%` }}>
                {label}
              </span>
            ))}
          </span>
        </div>
      </div>
    </figure>
  )
}

const MOST_LANES = 6
/** Below so many milliseconds there is nothing to see. */
const SHORTEST = 60_000
const MOST_TICKS = 6
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** How far ticks may be apart, in months, and where these are too long, in milliseconds. */
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120]
const SPANS = [HOUR / 6, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY]

/** Where months, days or hours begin. */
function ticks(first: number, last: number): { time: number; label: string }[] {
  const long = last - first
  if (long > 2.5 * 30 * DAY) {
    const step = MONTHS.find((months) => long / (months * 30.44 * DAY) <= MOST_TICKS) ?? MONTHS.at(-1)!
    const from = new Date(first)
    const start = new Date(from.getFullYear(), Math.ceil((from.getMonth() + 1) / step) * step, 1)
    const found = []
    for (let at = start; at.getTime() <= last; at = new Date(at.getFullYear(), at.getMonth() + step, 1)) {
      found.push({ time: at.getTime(), label: month(at) })
    }
    return found
  }
  const step = SPANS.find((span) => long / span <= MOST_TICKS) ?? 14 * DAY
  const shift = new Date(first).getTimezoneOffset() * 60_000
  const start = Math.ceil((first - shift) / step) * step + shift
  const write = step >= DAY ? shortDay : moment
  return Array.from({ length: Math.max(0, Math.floor((last - start) / step) + 1) }, (_, number) => {
    const time = start + number * step
    return { time, label: write(new Date(time)) }
  })
}
