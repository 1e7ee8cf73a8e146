import { join } from 'node:path'
import { Migrator } from 'kysely/migration'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/db/sqlite/connection.ts'
import { MIGRATIONS, readMigrations } from '../../src/db/sqlite/migrations.ts'
import { failures } from '../../src/state/failures.ts'
import { tempFolder } from '../kit.ts'
import { openStore } from '../store.ts'
import { FAILED_EARLIER } from './failedEarlier.ts'

const EARLIER = Object.keys(MIGRATIONS).filter((name) => Number.parseInt(name, 10) < 28)

test.each(EARLIER)(
  'what failed in a database of schema %s is told with its message and without a code',
  async (name) => {
    const file = join(tempFolder(), 'old.db')
    const connection = connect(file)
    const migrator = new Migrator({
      db: connection.kysely,
      provider: { getMigrations: readMigrations },
      migrationTableName: '_migration',
      migrationLockTableName: '_migration_lock',
    })
    expect((await migrator.migrateTo(name)).error).toBeUndefined()
    connection.raw.exec(FAILED_EARLIER)
    connection.raw.close()
    const store = await openStore(file)
    onTestFinished(() => store.close())
    expect(await failures(store)).toMatchObject([{ target: '/indicators', message: 'It failed.', code: null }])
  },
)
