// What can go wrong, sorted by whose fault it is. `code` is the message id that Borg has for it, `object` what it is about.

export class PortaborgError extends Error {
  constructor({ code, object, message }, options) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    this.object = object
  }
}

export class DamagedError extends PortaborgError {}
export class RefusedError extends PortaborgError {}
export class UnsupportedError extends PortaborgError {}
export class MisuseError extends PortaborgError {}
export class SourceError extends PortaborgError {}

const CLASSES = {
  damaged: DamagedError,
  refused: RefusedError,
  unsupported: UnsupportedError,
  misuse: MisuseError,
  source: SourceError,
}

/** The error that a failure of the module is. */
export function toError(failure) {
  return new (CLASSES[failure.fault] ?? PortaborgError)(failure)
}

/** Anything that was thrown in a worker, as a failure that can be sent. */
export function toFailure(thrown) {
  if (typeof thrown?.fault === 'string') return thrown
  const message = `${thrown?.message ?? thrown}`
  return { fault: 'bug', code: 'Exception', object: '', message: `The module failed: ${message}` }
}

/** A mistake in a call. */
export function misuse(object, message, code = 'CommandError') {
  return new MisuseError({ code, object, message })
}

/** Why something ends that was aborted. */
export function abortReason(signal) {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError')
}
