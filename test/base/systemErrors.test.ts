import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { StoreError } from '../../src/base/errors.ts'
import { errorFields } from '../../src/base/eventFields.ts'
import { asSyncError } from '../../src/base/systemErrors.ts'
import { tempFolder } from '../kit.ts'

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test('what was thrown is told by what it is: ours, of the system, or a bug with what it says', () => {
  const ours = new StoreError('The disk is full.', { code: 'full' })
  expect(asSyncError(ours)).toBe(ours)
  const folder = tempFolder()
  const ofSystem = asSyncError(thrownBy(() => readFileSync(folder)))
  expect(ofSystem).toMatchObject({
    name: 'InputError',
    code: 'eisdir',
    message: expect.stringContaining('is a folder'),
  })
  expect(errorFields(asSyncError(new TypeError('x is not a function')))).toEqual({
    code: 'bug',
    reason: 'an unexpected error: x is not a function',
    hint: 'Please report it.',
  })
})
