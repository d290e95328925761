// Bytes as digits, with the characters that they would be.

import { texts } from '../texts'

export function Hex({ bytes }: { bytes: Uint8Array }) {
  const shown = bytes.subarray(0, MOST)
  const lines = Array.from({ length: Math.ceil(shown.length / WIDTH) }, (_, line) => {
    const part = [...shown.subarray(line * WIDTH, (line + 1) * WIDTH)]
    const digits = part.map((byte) => byte.toString(16).padStart(2, '0'))
    const left = digits.slice(0, WIDTH / 2).join(' ').padEnd((WIDTH / 2) * 3 - 1)
    const right = digits.slice(WIDTH / 2).join(' ').padEnd((WIDTH / 2) * 3 - 1)
    const letters = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('')
    return `${(line * WIDTH).toString(16).padStart(6, '0')}  ${left}  ${right}  ${letters}`
  })
  return (
    <pre class="preview-text hex" tabIndex={0} aria-label={texts.preview.hex}>
      {lines.join('\n')}
    </pre>
  )
}

const WIDTH = 8
const MOST = 65_536
