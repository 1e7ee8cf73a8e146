/** How long one attempt may take. */
export interface Deadlines {
  /** Milliseconds until the head of the response must have come, whatever comes before it. */
  readonly timeoutMs: number
  /** Milliseconds until the last byte must have come. */
  readonly totalMs: number
  /** The fewest bytes that must come within an interval (ms), once the head has come. */
  readonly minRate: { readonly bytes: number; readonly ms: number }
  /** Milliseconds that an attempt may continue after the run was stopped, to finish a response that is arriving. */
  readonly graceMs: number
}

/** Why an attempt was given up, with a code for the classification. */
export class DeadlineError extends Error {
  readonly code: 'NO_CONNECTION' | 'HEAD_TIMEOUT' | 'TOTAL_TIMEOUT' | 'TOO_SLOW' | 'INFO_FLOOD' | 'STOPPED'
  constructor(code: DeadlineError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Watches over one attempt, and aborts it when a deadline has passed. */
export interface DeadlineTimer {
  readonly signal: AbortSignal
  /** Called when the request is sent: until then what is late is the connection. */
  sent(): void
  /** Called when an informational response (1xx) has come. */
  infoReceived(): void
  /** Called when the head has come. */
  headReceived(): void
  /** Called when more bytes have come. */
  received(bytes: number): void
  end(): void
}

/** Interim responses (status 1xx) that a request may bring before it counts as flooded. */
const MAX_INFO_ANSWERS = 20

/** Begins to watch; `stop` is the signal that ends the run. */
export function startDeadlines({ timeoutMs, totalMs, minRate, graceMs }: Deadlines, stop: AbortSignal): DeadlineTimer {
  const controller = new AbortController()
  const timers = new Set<NodeJS.Timeout>()
  let isSent = false
  const abortWith = (code: DeadlineError['code'], message: string) => (): void =>
    controller.abort(new DeadlineError(code, message))
  const late = (code: 'HEAD_TIMEOUT' | 'TOTAL_TIMEOUT', message: string) => (): void =>
    abortWith(isSent ? code : 'NO_CONNECTION', message)()
  const after = (ms: number, then: () => void): void => {
    timers.add(setTimeout(then, ms))
  }
  const stopped = (): void => after(graceMs, abortWith('STOPPED', 'stopped by a signal'))
  const began = performance.now()
  let infos = 0
  let bytes = 0
  let begun = false
  after(totalMs, late('TOTAL_TIMEOUT', `the response took over ${totalMs / 1000} s`))
  const noHead = setTimeout(late('HEAD_TIMEOUT', `no response within ${timeoutMs / 1000} s`), timeoutMs)
  timers.add(noHead)
  if (stop.aborted) stopped()
  else stop.addEventListener('abort', stopped, { once: true })
  return {
    signal: controller.signal,
    sent() {
      isSent = true
    },
    infoReceived() {
      if (++infos > MAX_INFO_ANSWERS) abortWith('INFO_FLOOD', `over ${MAX_INFO_ANSWERS} informational responses`)()
    },
    headReceived() {
      clearTimeout(noHead)
      const look = (): void => {
        // Before its first byte a response may take as long as its head: some send that at once, and then begin to work.
        if (begun && bytes < minRate.bytes)
          abortWith('TOO_SLOW', `less than ${minRate.bytes} bytes in ${minRate.ms / 1000} s`)()
        if (!begun && performance.now() - began > timeoutMs)
          abortWith('HEAD_TIMEOUT', `no body within ${timeoutMs / 1000} s`)()
        bytes = 0
        if (!controller.signal.aborted) after(minRate.ms, look)
      }
      after(minRate.ms, look)
    },
    received(more) {
      bytes += more
      begun = true
    },
    end() {
      for (const timer of timers) clearTimeout(timer)
      stop.removeEventListener('abort', stopped)
    },
  }
}
