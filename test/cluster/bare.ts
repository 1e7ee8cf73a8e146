import { onTestFinished } from 'vitest'
import { connect } from '../../src/db/postgres/connection/connection.ts'
import { createCoordination } from '../../src/db/postgres/coordination.ts'
import type { Store } from '../../src/db/store.ts'

/** A store with a pool of its own, of which only typed queries and transactions are used. */
export function bareStore(url: string): Store {
  const { kysely, close } = connect(url, { connections: 3 })
  onTestFinished(close)
  const write = (work: never) => kysely.transaction().execute(work)
  return { kysely, write, coordination: createCoordination(kysely) } as unknown as Store
}
