// What kind of thing a file is, as far as its name tells.

import type { Item } from 'portaborg'
import type { IconName } from '../ui/icon'

export type Kind = 'text' | 'image' | 'audio' | 'video' | 'pdf' | 'other'

/** What to take a file for, by the end of its name. */
export function kindOf(name: string): { kind: Kind; type: string } {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const type = name.includes('.') ? TYPES[ending] : undefined
  if (type) {
    const [family] = type.split('/')
    if (type === 'application/pdf') return { kind: 'pdf', type }
    if (family === 'image' || family === 'audio' || family === 'video') return { kind: family, type }
  }
  return TEXTS.has(ending) ? { kind: 'text', type: 'text/plain' } : { kind: 'other', type: 'application/octet-stream' }
}

export function iconOf(item: Item): IconName {
  switch (item.type) {
    case 'directory':
      return 'folder'
    case 'symlink':
      return 'link'
    case 'file': {
      const { kind } = kindOf(item.path)
      return kind === 'other' ? 'file' : kind
    }
    default:
      return 'device'
  }
}

/** Types that browsers show or play. */
const TYPES: Record<string, string> = {
  apng: 'image/apng',
  avif: 'image/avif',
  bmp: 'image/bmp',
  gif: 'image/gif',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  webp: 'image/webp',
  aac: 'audio/aac',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  m4v: 'video/mp4',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  mp4: 'video/mp4',
  ogv: 'video/ogg',
  webm: 'video/webm',
  pdf: 'application/pdf',
}

const TEXTS = new Set(
  (
    'asc bash bat c cfg conf cpp cs css csv desktop diff env go h hpp htm html ini java js json jsx kt lock log lua md mjs ' +
    'patch php pl properties ps1 py r rb rs rst sh sql srt svelte swift tex toml ts tsv tsx txt vcf vue xhtml xml yaml yml zsh'
  ).split(' '),
)
