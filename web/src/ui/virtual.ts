// The arithmetic of a list of which only the rows in sight exist. Browsers draw nothing that is higher than some millions of
// pixels, so that a longer list scrolls through a lower one: small steps are the same in both, long ones in proportion.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface View {
  /** The first row that is drawn, and the one behind the last. */
  first: number
  end: number
  /** How far down the list its visible part begins, in pixels. */
  top: number
  /** Height of the visible part. */
  height: number
  /** Height of what is scrolled. */
  spacer: number
}

export interface Scroller extends View {
  ref: { current: HTMLDivElement | null }
  onScroll: () => void
  /** Makes a row visible. */
  reveal: (row: number) => void
  /** Rows that fit. */
  page: number
}

/** `rowHeight` and `headHeight` are in pixels; `reset` begins anew at the top when it changes. */
export function useVirtual(total: number, rowHeight: number, headHeight: number, reset: unknown): Scroller {
  const ref = useRef<HTMLDivElement>(null)
  const at = useRef({ top: 0, scrolled: 0, timer: 0 })
  const [height, setHeight] = useState(DEFAULT_HEIGHT)
  const [top, setTop] = useState(0)
  const natural = total * rowHeight
  const spacer = Math.max(Math.min(natural, HIGHEST), 1)
  const mostTop = Math.max(0, natural - height)
  const mostScroll = Math.max(0, spacer - height)

  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setHeight(Math.max(rowHeight, element.clientHeight - headHeight))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [rowHeight, headHeight])
  useLayoutEffect(() => {
    if (ref.current) ref.current.scrollTop = 0
    at.current.scrolled = at.current.top = 0
    setTop(0)
  }, [reset])
  useEffect(() => () => clearTimeout(at.current.timer), [])

  const put = (wanted: number) => {
    at.current.top = Math.min(Math.max(0, wanted), mostTop)
    setTop(at.current.top)
  }
  /** Puts the scroll bar where it belongs. */
  const align = () => {
    const element = ref.current
    if (!element) return
    element.scrollTop = natural === spacer ? at.current.top : (at.current.top / (mostTop || 1)) * mostScroll
    at.current.scrolled = element.scrollTop
  }
  const onScroll = () => {
    const element = ref.current
    if (!element) return
    const { scrollTop } = element
    const step = scrollTop - at.current.scrolled
    at.current.scrolled = scrollTop
    if (step === 0) return
    if (natural === spacer) return put(scrollTop)
    if (scrollTop <= 0) return put(0)
    if (scrollTop >= mostScroll - 1) return put(mostTop)
    put(Math.abs(step) < 3 * height ? at.current.top + step : (scrollTop / mostScroll) * mostTop)
    clearTimeout(at.current.timer)
    at.current.timer = window.setTimeout(align, REST)
  }
  const reveal = (row: number) => {
    const [above, below] = [row * rowHeight, (row + 1) * rowHeight]
    const { top } = at.current
    if (above < top) put(above)
    else if (below > top + height) put(below - height)
    else return
    align()
  }

  const kept = Math.min(top, mostTop)
  const first = Math.max(0, Math.floor(kept / rowHeight) - MARGIN)
  const end = Math.min(total, Math.ceil((kept + height) / rowHeight) + MARGIN)
  return { ref, first, end, top: kept, height, spacer, onScroll, reveal, page: Math.max(1, Math.floor(height / rowHeight) - 1) }
}

/** In pixels; what every browser draws. */
const HIGHEST = 8_000_000
const DEFAULT_HEIGHT = 600
/** Rows above and below what is in sight. */
const MARGIN = 4
/** After so many milliseconds without scrolling, the bar is put right. */
const REST = 150
