import { describe, expect, test } from 'vitest'
import { isFetching } from '../../../src/cli/commandLine/fetching.ts'
import { tempFolder } from '../../kit.ts'

describe('what begins with a small heap', () => {
  const fetching = (...words: string[]) => isFetching(['node', 'bin.js', ...words])

  test('is a command that always has something to fetch, or a sync into a database that is not there yet', () => {
    expect(fetching('backfill', 'jobs/nightly.yaml')).toBe(true)
    expect(fetching('lake', 'sync', 'data/lake')).toBe(true)
    expect(fetching('sync', 'jobs/nightly.yaml', '--database', `${tempFolder()}/new.db`)).toBe(true)
    expect(fetching('sync', 'jobs/nightly.yaml', '--database', import.meta.filename)).toBe(false)
    expect(fetching('status')).toBe(false)
    expect(fetching()).toBe(false)
  })

  test('is told by the command alone: a file or a folder may have the name of another command', () => {
    expect(fetching('plan', 'demo')).toBe(false)
    expect(fetching('init', 'lake')).toBe(false)
    expect(fetching('query', 'sync')).toBe(false)
  })
})
