import { StoppedError } from './errors.ts'

/** A run or a wait that a signal ends. */
export const stoppedBySignal = (cause?: unknown): StoppedError =>
  new StoppedError('Stopped by a signal.', {
    hint: 'Run the same command again: it continues where this one stopped.',
    code: 'signal',
    cause,
  })
