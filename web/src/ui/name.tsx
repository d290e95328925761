// Names that come from a backup. They are data: whatever is in them is shown, and nothing of it has an effect.

import type { JSX } from 'preact'

interface NameProps {
  text: string
  class?: string
  /** That nothing comes before and after it, so that spaces there are to be seen. */
  isWhole?: boolean
}

/** A name, apart from the text around it, with whatever can't be seen made visible. */
export function Name({ text, class: style, isWhole = false }: NameProps): JSX.Element {
  return (
    <bdi class={style}>
      {segments(text, isWhole).map(({ text, isOdd }) => (isOdd ? <span class="odd">{text}</span> : text))}
    </bdi>
  )
}

/** The same for attributes, which hold nothing but text. */
export function plain(text: string): string {
  return segments(text)
    .map(({ text }) => text)
    .join('')
}

interface Segment {
  text: string
  isOdd: boolean
}

function segments(text: string, isWhole = false): Segment[] {
  const [, before = '', after = ''] = (isWhole && /^( *).*?( *)$/s.exec(text)) || []
  if (before || after) {
    const dots = (spaces: string) => (spaces ? [{ text: '·'.repeat(spaces.length), isOdd: true }] : [])
    return [...dots(before), ...segments(text.slice(before.length, text.length - after.length)), ...dots(after)]
  }
  if (text === '') return []
  if (!ODD.test(text)) return [{ text, isOdd: false }]
  const parts = text.split(ODD_PARTS)
  return parts.filter(Boolean).map((part) => (ODD.test(part) ? { text: shown(part), isOdd: true } : { text: part, isOdd: false }))
}

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20 || code === 0x7f) return ESCAPES[code] ?? `\\x${code.toString(16).padStart(2, '0')}`
  if (code === 0xfffd) return character
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

const ESCAPES: Record<number, string> = { 0: '\\0', 9: '\\t', 10: '\\n', 13: '\\r', 27: '\\e' }

/**
 * Control characters, those that turn the direction of text round or separate lines, and those that have no width; and what stands
 * for bytes that are no text.
 */
const CLASS = '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffd]'
const ODD = new RegExp(CLASS)
const ODD_PARTS = new RegExp(`(${CLASS})`)
