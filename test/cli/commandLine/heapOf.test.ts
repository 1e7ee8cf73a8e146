import { describe, expect, test } from 'vitest'
import { heapOf } from '../../../src/cli/commandLine/heapOf.ts'
import { tempFolder } from '../../kit.ts'

describe('what begins with a small heap', () => {
  const heap = (...words: string[]) => heapOf(['node', 'bin.js', ...words])

  test('is a command that always has replies to read, a sync into a database that is not there yet, and what stays up', () => {
    expect(heap('backfill', 'jobs/nightly.yaml')).toBe('replies')
    expect(heap('lake', 'sync', 'data/lake')).toBe('rows')
    expect(heap('sync', 'jobs/nightly.yaml', '--database', `${tempFolder()}/new.db`)).toBe('replies')
    expect(heap('sync', 'jobs/nightly.yaml', '--database', import.meta.filename)).toBeUndefined()
    expect(heap('serve', '--open')).toBe('rows')
    expect(heap('status')).toBeUndefined()
    expect(heap()).toBeUndefined()
  })

  test('is told by the command alone: a file or a folder may have the name of another command', () => {
    expect(heap('plan', 'demo')).toBeUndefined()
    expect(heap('init', 'lake')).toBeUndefined()
    expect(heap('query', 'sync')).toBeUndefined()
  })
})
