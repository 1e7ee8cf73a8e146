import { describe, expect, test } from 'vitest'
import type { AttemptFailure } from '../../src/fetch/classify.ts'
import { reactTo } from '../../src/fetch/reaction.ts'
import { KeyError, NotFoundError, TransientError } from '../../src/util/errors.ts'

const HOUR_MS = 3_600_000
const failure = (over: Partial<AttemptFailure> = {}): AttemptFailure => ({
  error: new TransientError('The service cannot be reached.', { code: 'network' }),
  maxAttempts: 4,
  coolDownMs: 0,
  response: null,
  ...over,
})
const SERVICE = { isService: true, outagePauseMs: null }
const STORAGE = { isService: false, outagePauseMs: null }
/** A worker waits for the end of an outage. */
const WORKER = { isService: true, outagePauseMs: 40_000 }

describe('the reaction to a failed call', () => {
  test('a failure that the breaker tolerates pauses nothing', () => {
    expect(reactTo(failure(), { kind: 'continue' }, SERVICE)).toMatchObject({ kind: 'fail', pauses: [] })
  })

  test('an open breaker pauses all calls, then those that the response requests', () => {
    const busy = new TransientError('Too many.', { code: 'too-many' })
    const reaction = reactTo(failure({ error: busy, coolDownMs: 2_000 }), { kind: 'pause', ms: 5_000 }, SERVICE)
    expect(reaction).toMatchObject({
      kind: 'fail',
      pauses: [
        { ms: 5_000, reason: 'the service keeps failing' },
        { ms: 2_000, reason: 'Too many.' },
      ],
    })
  })

  test('a refused key ends the run, and an unknown item fails without a pause', () => {
    const refused = new KeyError('The key is refused.')
    expect(reactTo(failure({ error: refused }), { kind: 'continue' }, SERVICE)).toMatchObject({
      kind: 'end',
      error: refused,
      pauses: [],
    })
    const unknown = failure({ error: new NotFoundError('Unknown.'), coolDownMs: 5_000 })
    expect(reactTo(unknown, { kind: 'continue' }, SERVICE)).toMatchObject({ kind: 'fail', pauses: [] })
  })

  test('an item that keeps failing is not tried again', () => {
    expect(reactTo(failure(), { kind: 'giveUpItem' }, SERVICE)).toMatchObject({
      kind: 'fail',
      failure: { maxAttempts: 1, error: { name: 'BrokenItemError' } },
    })
  })

  test('a service that is down ends a run, but a worker waits and other processes learn of it', () => {
    expect(reactTo(failure(), { kind: 'giveUpHost' }, SERVICE)).toMatchObject({
      kind: 'end',
      error: { name: 'UnavailableError' },
    })
    expect(reactTo(failure(), { kind: 'giveUpHost' }, WORKER)).toMatchObject({
      kind: 'fail',
      isGivenUp: true,
      pauses: [{ ms: 40_000 }],
    })
  })

  test('storage that is down fails its own files only', () => {
    for (const kind of ['giveUpHost', 'giveUpItem'] as const)
      expect(reactTo(failure(), { kind }, STORAGE)).toMatchObject({
        kind: 'fail',
        isGivenUp: false,
        pauses: [],
        failure: { maxAttempts: 1, error: { name: 'TransientError' } },
      })
  })

  test('a long pause ends the run, as an outage if the service is down', () => {
    const busy = new TransientError('Too many.', { code: 'too-many' })
    expect(reactTo(failure({ error: busy, coolDownMs: HOUR_MS }), { kind: 'continue' }, SERVICE)).toMatchObject({
      kind: 'end',
      error: { name: 'StoppedError', code: 'retry-after' },
      pauses: [{ ms: HOUR_MS }],
    })
    expect(reactTo(failure({ coolDownMs: HOUR_MS }), { kind: 'continue' }, SERVICE)).toMatchObject({
      kind: 'end',
      error: { name: 'UnavailableError' },
      pauses: [{ ms: HOUR_MS }],
    })
  })
})
