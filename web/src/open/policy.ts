// What this tab may talk to. The page's own policy lets it look for a repository anywhere; once one is chosen, only that.

/** Narrows what may be connected to, before any worker starts; it can't be widened again. */
export function narrow(reach: string | undefined): void {
  const content = `connect-src 'self'${reach ? ` ${reach}` : ''}`
  if (narrowed === content) return
  narrowed = content
  const policy = document.createElement('meta')
  policy.httpEquiv = 'Content-Security-Policy'
  policy.content = content
  document.head.append(policy)
}

/** Whether a place can be connected to without loading the page anew. */
export function isWithinReach(reach: string | undefined): boolean {
  return narrowed === null || reach === undefined || narrowed.endsWith(` ${reach}`)
}

let narrowed: string | null = null
