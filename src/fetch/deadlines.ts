/** Time limits of one attempt. */
export interface Deadlines {
  /** Milliseconds until the headers of the response must arrive. */
  readonly timeoutMs: number
  /** Milliseconds until the last byte must arrive. */
  readonly totalMs: number
  /** The minimum of bytes within an interval (ms) after the headers. */
  readonly minRate: { readonly bytes: number; readonly ms: number }
  /** Milliseconds that an attempt may continue after the run was stopped, to finish a response that is arriving. */
  readonly graceMs: number
}

/** The reason why an attempt was aborted, with a code for `classifyError`. */
export class DeadlineError extends Error {
  readonly code: 'NO_CONNECTION' | 'HEAD_TIMEOUT' | 'TOTAL_TIMEOUT' | 'TOO_SLOW' | 'STOPPED'
  constructor(code: DeadlineError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Watches one attempt, and aborts it after a deadline. */
export interface DeadlineTimer {
  readonly signal: AbortSignal
  /** Called when the request is sent. Before that, the connection is late. */
  sent(): void
  /** Called when the status and the headers have arrived. */
  headReceived(): void
  /** Called when more bytes of the body have arrived. */
  received(bytes: number): void
  end(): void
}

/** Starts to watch an attempt. `signal` is the signal that ends the run. */
export function startDeadlines(
  { timeoutMs, totalMs, minRate, graceMs }: Deadlines,
  signal: AbortSignal,
): DeadlineTimer {
  const controller = new AbortController()
  const timers = new Set<NodeJS.Timeout>()
  let isSent = false
  const abort = (code: DeadlineError['code'], message: string): void =>
    controller.abort(new DeadlineError(code, message))
  const after = (ms: number, run: () => void): void => {
    timers.add(setTimeout(run, ms))
  }
  const onStop = (): void => after(graceMs, () => abort('STOPPED', 'stopped by a signal'))
  const startedAt = performance.now()
  let bytes = 0
  let hasBody = false
  after(totalMs, () => abort(isSent ? 'TOTAL_TIMEOUT' : 'NO_CONNECTION', `the response took over ${totalMs / 1000} s`))
  const headTimer = setTimeout(() => {
    abort(isSent ? 'HEAD_TIMEOUT' : 'NO_CONNECTION', `no response within ${timeoutMs / 1000} s`)
  }, timeoutMs)
  timers.add(headTimer)
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  return {
    signal: controller.signal,
    sent() {
      isSent = true
    },
    headReceived() {
      clearTimeout(headTimer)
      const checkRate = (): void => {
        // Some services send the headers at once and then start to work, so the first byte may take as long as the headers.
        if (hasBody && bytes < minRate.bytes)
          abort('TOO_SLOW', `less than ${minRate.bytes} bytes in ${minRate.ms / 1000} s`)
        if (!hasBody && performance.now() - startedAt > timeoutMs)
          abort('HEAD_TIMEOUT', `no body within ${timeoutMs / 1000} s`)
        bytes = 0
        if (!controller.signal.aborted) after(minRate.ms, checkRate)
      }
      after(minRate.ms, checkRate)
    },
    received(more) {
      bytes += more
      hasBody = true
    },
    end() {
      for (const timer of timers) clearTimeout(timer)
      signal.removeEventListener('abort', onStop)
    },
  }
}
