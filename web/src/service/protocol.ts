// What the page and its service worker say to each other.

/** From the worker to every window: who has this content? The answer comes to the port. */
export interface Want {
  kind: 'want'
  id: string
  /** What the browser's Range header says, if there is one. */
  range?: string
}

/** From the page, first: what is coming. */
export interface Head {
  kind: 'head'
  status: number
  headers: [string, string][]
}

/** From the worker: one more piece, or none any more. */
export type Ask = { kind: 'pull' } | { kind: 'cancel' }

/** From the page, for each pull. */
export type Piece = { kind: 'piece'; bytes: Uint8Array } | { kind: 'end' } | { kind: 'error'; message: string }

/** Where contents are found, below the page. */
export const CONTENT = 'content/'
