// Ports of workers in browsers, from both sides.

/** The port of a worker that was started. */
export function portOf(worker) {
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer ?? []),
    listen({ message, failed }) {
      worker.onmessage = ({ data }) => message(data)
      worker.onerror = (event) => {
        event.preventDefault() // it is told here, and to nobody else
        failed(event)
      }
      worker.onmessageerror = failed
    },
    ref() {},
    unref() {},
    terminate: () => worker.terminate(),
  }
}

/** The port of the worker that this is. */
export function portOfSelf() {
  return {
    postMessage: (message, transfer) => self.postMessage(message, transfer ?? []),
    onMessage: (take) => self.addEventListener('message', ({ data }) => take(data)),
  }
}
