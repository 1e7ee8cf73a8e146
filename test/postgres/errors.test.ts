import { expect, test } from 'vitest'
import type { SyncError } from '../../src/base/errors.ts'
import { asSyncError } from '../../src/base/systemErrors.ts'
import { asStoreError, isConnectionLost } from '../../src/db/postgres/errors.ts'

const ADDRESS = 'postgres://db/x'

test.each([
  [{ code: 'ENETUNREACH', syscall: 'connect' }, 'connect ENETUNREACH 10.0.0.1:5432'],
  [{ code: 'ENETDOWN', syscall: 'connect' }, 'connect ENETDOWN 10.0.0.1:5432'],
  [{ code: 'EADDRNOTAVAIL', syscall: 'connect' }, 'connect EADDRNOTAVAIL ::1:5432'],
  [{ code: 'ECONNABORTED', syscall: 'write' }, 'write ECONNABORTED'],
  [{}, 'timeout expired'],
  [{}, 'There was an error establishing an SSL connection'],
  [{}, 'Received unexpected commandComplete message from backend.'],
  [{}, 'Connection terminated unexpectedly'],
])('a database that cannot be reached or is cut off is no bug and no mistake of the user: %j %s', (fields, message) => {
  const error = asStoreError(Object.assign(new Error(message), fields), ADDRESS)
  expect(error).toMatchObject({ name: 'StoreError', hint: expect.any(String) })
  expect((error as SyncError).message).toContain(ADDRESS)
  expect(isConnectionLost(error)).toBe(true)
  expect(asSyncError(error)).toBe(error)
})
