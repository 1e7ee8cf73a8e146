import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lockWriter } from '../../src/db/lock.ts'
import { openStore } from '../../src/db/open.ts'
import type { Store } from '../../src/db/store.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { BusyError } from '../../src/util/errors.ts'
import { json, runJob, serve, tempFolder } from '../kit.ts'
import { migratedDatabase } from '../postgres/database.ts'

const FIRST = 'catalogue: true\n'
const SECOND = 'series:\n  - { indicators: [600], window: { from: 2025-10-01, to: 2025-10-02 } }\n'

const ENGINES = {
  'a file': async () => join(tempFolder(), 'x.db'),
  'a server': migratedDatabase,
} as const

async function opened(file: string): Promise<Store> {
  const store = await openStore(file)
  onTestFinished(() => store.close())
  return store
}

test.each(Object.entries(ENGINES))(
  'a run of a program that begins while another one gives the lock back has the lock, too: in %s',
  async (_, make) => {
    const file = await make()
    const [one, other] = [await opened(file), await opened(file)]
    // No answer comes before another writer has tried: meanwhile the second run is under way.
    let tried: Promise<unknown> | undefined
    const service = await serve(async (_request, response) => {
      tried ??= lockWriter(other, 'other', Date.now).catch((error: unknown) => error)
      await tried
      json(response, {})
    })
    const quick = await serve((_request, response) => json(response, {}))
    let second: Promise<Summary> | undefined
    const store: Store = {
      ...one,
      async write(work) {
        const result = await one.write(work)
        // The first run has just removed its name; the lock itself goes next.
        if (!(await one.kysely.selectFrom('_lock').select('name').executeTakeFirst()))
          second ??= runJob(store, service, SECOND)
        return result
      },
    }
    await runJob(store, quick, FIRST)
    await second
    expect(await tried).toBeInstanceOf(BusyError)
    // And it is given back at the end.
    await (await lockWriter(other, 'other', Date.now))()
  },
)
