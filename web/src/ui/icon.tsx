// Icons, drawn in the colour of the text around them.

import type { JSX } from 'preact'

export type IconName = keyof typeof SHAPES

export function Icon({ name, class: style = '' }: { name: IconName; class?: string }): JSX.Element {
  return (
    <svg class={`icon ${style}`} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {SHAPES[name].map((d) => (
        <path d={d} />
      ))}
    </svg>
  )
}

/** Lines on a grid of 20 by 20. */
const SHAPES = {
  archive: ['M3 6.5 10 3l7 3.5v7L10 17l-7-3.5z', 'm3 6.5 7 3.5 7-3.5', 'M10 10v7'],
  audio: ['M8 14.5V5l7-1.5v9', 'M8 14.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM15 12.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0z'],
  back: ['M12.5 4.5 7 10l5.5 5.5'],
  basket: ['M3.5 8h13l-1.4 8H4.9z', 'M7 8l2-4.5M13 8l-2-4.5'],
  check: ['M4 10.5 8.2 15 16 5.5'],
  clock: ['M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z', 'M10 6v4l2.7 1.8'],
  close: ['M5 5l10 10M15 5 5 15'],
  code: ['M7 6 3 10l4 4M13 6l4 4-4 4'],
  compare: ['M3 7h11l-3-3M17 13H6l3 3'],
  device: ['M4 4h12v9H4z', 'M7 16.5h6M10 13v3.5'],
  down: ['M5 8l5 5 5-5'],
  download: ['M10 3.5V13', 'm6 9.5 4 4 4-4', 'M4 16.5h12'],
  drop: ['M3 7.5V5a1 1 0 0 1 1-1h4l2 2h6a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1h-3', 'M8 18V10M5 13l3-3 3 3'],
  eye: ['M2.5 10S5 5 10 5s7.5 5 7.5 5-2.5 5-7.5 5-7.5-5-7.5-5z', 'M12 10a2 2 0 1 1-4 0 2 2 0 0 1 4 0z'],
  file: ['M5 3h6.5L15 6.5V17H5z', 'M11.5 3v3.5H15'],
  folder: ['M3 5a1 1 0 0 1 1-1h3.6l2 2H16a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z'],
  forward: ['M7.5 4.5 13 10l-5.5 5.5'],
  globe: ['M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z', 'M3 10h14M10 3c2.2 2 3 4.4 3 7s-.8 5-3 7c-2.2-2-3-4.4-3-7s.8-5 3-7z'],
  help: ['M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z', 'M8 8.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4M10 13.6h.01'],
  image: ['M3.5 4.5h13v11h-13z', 'm3.5 13 4-4 3.5 3.5 2-2 3.5 3.5', 'M13.5 7.5h.01'],
  info: ['M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0z', 'M10 9.2V13.5M10 6.6h.01'],
  key: ['M10.5 9.5 17 3M14.5 5.5l2 2M11 12.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z'],
  link: ['M8.5 11.5a3 3 0 0 0 4.3 0l2.4-2.4a3 3 0 0 0-4.3-4.3L10 5.7', 'M11.5 8.5a3 3 0 0 0-4.3 0l-2.4 2.4a3 3 0 0 0 4.3 4.3l.9-.9'],
  list: ['M7.5 5.5H17M7.5 10H17M7.5 14.5H17M3.5 5.5h.01M3.5 10h.01M3.5 14.5h.01'],
  lock: ['M5 9h10v7.5H5z', 'M7 9V6.5a3 3 0 0 1 6 0V9'],
  pause: ['M7.5 5v10M12.5 5v10'],
  pdf: ['M5 3h6.5L15 6.5V17H5z', 'M11.5 3v3.5H15', 'M7.5 10.5h5M7.5 13.5h3'],
  play: ['M6.5 4.5v11l9-5.5z'],
  search: ['M14 9a5 5 0 1 1-10 0 5 5 0 0 1 10 0z', 'm12.7 12.7 4 4'],
  server: ['M3.5 4h13v5h-13zM3.5 11h13v5h-13z', 'M6.5 6.5h.01M6.5 13.5h.01'],
  shield: ['M10 3l6 2.2v4.3c0 3.6-2.4 6-6 7.5-3.6-1.5-6-3.9-6-7.5V5.2z', 'm7.3 9.8 2 2 3.5-3.8'],
  tag: ['M3.5 3.5h6l7 7-6 6-7-7z', 'M7 7h.01'],
  text: ['M5 3h6.5L15 6.5V17H5z', 'M11.5 3v3.5H15', 'M7.5 10h5M7.5 13h5'],
  up: ['M5 12l5-5 5 5'],
  video: ['M3.5 5.5h9v9h-9z', 'm12.5 9 4-2.5v7l-4-2.5'],
  warning: ['M10 3.5 17.5 16.5h-15z', 'M10 8.5v3.5M10 14.3h.01'],
} satisfies Record<string, string[]>
