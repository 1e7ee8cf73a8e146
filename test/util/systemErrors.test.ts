import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeError, failedFields } from '../../src/cli/terminal/fail.ts'
import { StoreError } from '../../src/util/errors.ts'
import { errorFields } from '../../src/util/eventFields.ts'
import { asSyncError } from '../../src/util/systemErrors.ts'
import { tempFolder } from '../support/kit.ts'

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test('an error is classified as an error of the program, of the system, or as a bug', () => {
  const ours = new StoreError('The disk is full.', { code: 'full' })
  expect(asSyncError(ours)).toBe(ours)
  const folder = tempFolder()
  const ofSystem = asSyncError(thrownBy(() => readFileSync(folder)))
  expect(ofSystem).toMatchObject({
    name: 'InputError',
    code: 'eisdir',
    message: expect.stringContaining('is a folder'),
  })
})

test.each([
  ['an error', new TypeError('x is not a function'), 'x is not a function'],
  ['an error without a message', new TypeError(), 'TypeError'],
  ['a string', 'no words', 'no words'],
  ['null', null, 'null'],
  ['undefined', undefined, 'undefined'],
  ['an object, which may contain a secret', { key: 'secret' }, '[Object]'],
  ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
])('a bug that throws %s is reported with the same text everywhere', (_, thrown, text) => {
  const message = `Internal error: ${text}`
  expect(asSyncError(thrown).message).toBe(message)
  expect(errorFields(asSyncError(thrown))).toEqual({
    code: 'bug',
    reason: message,
    hint: 'This is a bug in indicator-sync. Please report it.',
  })
  const { reason, ...fields } = failedFields(thrown)
  expect(fields).toEqual({ code: 'bug', hint: 'This is a bug in indicator-sync. Please report it.' })
  // The stack follows.
  expect(reason?.split('\n    at ')[0]).toBe(message)
  expect(describeError(thrown)).toMatch(/^Internal error: /)
})
