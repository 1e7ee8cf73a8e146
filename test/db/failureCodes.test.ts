import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS } from '../../src/db/sqlite/migrations.ts'
import { failures } from '../../src/state/failures.ts'
import { tempFolder } from '../kit.ts'
import { openStore } from '../store.ts'
import { connectEarlier } from './connectEarlier.ts'
import { FAILED_EARLIER } from './failedEarlier.ts'

const EARLIER = Object.keys(MIGRATIONS).filter((name) => Number.parseInt(name, 10) < 28)

test.each(EARLIER)(
  'what failed in a database of schema %s is told with its message and without a code',
  async (name) => {
    const file = join(tempFolder(), 'old.db')
    const connection = await connectEarlier(file, name)
    connection.raw.exec(FAILED_EARLIER)
    connection.raw.close()
    const store = await openStore(file)
    onTestFinished(() => store.close())
    expect(await failures(store)).toMatchObject([{ target: '/indicators', message: 'It failed.', code: null }])
  },
)
