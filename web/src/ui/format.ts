// Numbers, sizes and times as people read them: in their zone, and in the language of the texts.

import { texts } from '../texts'

const locale = navigator.languages.find((language) => language.startsWith(texts.language)) ?? texts.language

const whole = new Intl.NumberFormat(locale)
const short = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const minute: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }
const toMinute = new Intl.DateTimeFormat(locale, minute)
const toMinuteWithZone = new Intl.DateTimeFormat(locale, { ...minute, timeZoneName: 'short' })
const toSecondWithZone = new Intl.DateTimeFormat(locale, { ...minute, second: '2-digit', timeZoneName: 'short' })
const toDay = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric' })
const toShortDay = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' })
const toMonth = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short' })

/** The name of the zone in which times are shown. */
export const zone = new Intl.DateTimeFormat(locale).resolvedOptions().timeZone

export function count(number: number | bigint): string {
  return whole.format(number)
}

/** A length in bytes, with three digits. */
export function size(bytes: number): string {
  let unit = 0
  let value = bytes
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${short.format(value)} ${UNITS[unit]}`
}

/** A length to the byte. */
export function exactSize(bytes: number): string {
  return bytes < 1000 ? size(bytes) : `${size(bytes)} (${count(bytes)} ${UNITS[0]})`
}

export function rate(bytesPerSecond: number): string {
  return `${size(Math.round(bytesPerSecond))}/s`
}

/** A time to the minute; `withZone` where no heading tells the zone. */
export function moment(date: Date, withZone = false): string {
  return (withZone ? toMinuteWithZone : toMinute).format(date)
}

export function second(date: Date): string {
  return toSecondWithZone.format(date)
}

export function day(date: Date): string {
  return toDay.format(date)
}

/** A day of a year that is known. */
export function shortDay(date: Date): string {
  return toShortDay.format(date)
}

export function month(date: Date): string {
  return toMonth.format(date)
}

/** The date of a time in ns; undefined for what has none. */
export function dateOf(ns: bigint): Date | undefined {
  const date = new Date(Number(ns / 1_000_000n))
  return ns === 0n || Number.isNaN(date.getTime()) ? undefined : date
}

/** A time to the nanosecond. */
export function exact(ns: bigint): string {
  const date = new Date(Number(ns / 1_000_000n))
  if (Number.isNaN(date.getTime())) return `${ns} ns`
  const fraction = (((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n).toString().padStart(9, '0')
  const parts = toSecondWithZone.formatToParts(date)
  return parts.map(({ type, value }) => (type === 'second' ? `${value}.${fraction}` : value)).join('')
}

/** How long ago a time is. */
export function ago(date: Date): string {
  const seconds = (date.getTime() - Date.now()) / 1000
  for (const [unit, length] of SPANS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  }
  return relative.format(0, 'second')
}

/** A span of seconds, roughly. */
export function span(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–'
  const rounded = Math.max(1, Math.round(seconds))
  if (rounded < 90) return `${rounded} s`
  const minutes = Math.round(rounded / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A mode as `ls` writes it. */
export function mode(bits: number): string {
  const kind = KINDS[(bits >> 12) & 15] ?? '?'
  const letters = [...'rwxrwxrwx'].map((letter, at) => (bits & (0o400 >> at) ? letter : '-'))
  const special = (at: number, bit: number, set: string) => {
    if (bits & bit) letters[at] = letters[at] === '-' ? set.toUpperCase() : set
  }
  special(2, 0o4000, 's')
  special(5, 0o2000, 's')
  special(8, 0o1000, 't')
  return kind + letters.join('')
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
const KINDS: Record<number, string> = { 1: 'p', 2: 'c', 4: 'd', 6: 'b', 8: '-', 10: 'l', 12: 's' }
const SPANS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
