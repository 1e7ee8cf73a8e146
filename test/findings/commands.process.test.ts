import { realpathSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Finding, FindingKind } from '../../src/findings/finding.ts'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import { storeDefinition } from '../../src/sync/sync.ts'
import { StoreError } from '../../src/util/errors.ts'
import { serviceAt } from '../cli/jobFolder.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { emulate, judgeAgain, ms, runCommand, runJob, tempFolder } from '../support/kit.ts'
import { openStore, type Store } from '../support/testStore.ts'

/* Every command that a finding prints is executed literally, as a user copies it, and ends the finding. */

const DAY = 86_400_000
const seconds = (text: string): number => ms(text) / 1000
const PACE = 'pace: { perSecond: 50 }\n'
const series = (ids: string, more = '') =>
  `series: [{ indicators: [${ids}], window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d${more} }]`
const named = (name: string, yaml: string): string => `name: ${name}\n${PACE}${yaml}`

/** Splits a command as a shell does. */
const words = (command: string): string[] =>
  (command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))

/** A folder with job files, a database, and a service. */
async function createWorld() {
  const dir = realpathSync(tempFolder())
  const service = await startHourlyService()
  const file = join(dir, 'market.db')
  const env = serviceAt(service.url)
  const emulator = await emulate()
  const write = (name: string, yaml: string): void => writeFileSync(join(dir, name), yaml)
  const withStore = async <T>(action: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore(file)
    try {
      return await action(store)
    } finally {
      await store.close()
    }
  }
  const jobSource = (name: string) => ({ host: hostname(), file: join(dir, name) })
  /** Writes a job file and runs it. Commands name the file as it was given to this run. */
  const run = async (name: string, yaml: string, more: Parameters<typeof runJob>[3] = {}): Promise<void> => {
    write(name, yaml)
    await withStore((store) => runJob(store, service, yaml, { jobSource: jobSource(name), ...more }).catch(() => null))
  }
  const check = async (...flags: string[]): Promise<Finding[]> =>
    JSON.parse((await runCommand(dir, ['check', '--json', '--database', file, ...flags], env)).out)
  /** Executes a command of this program literally. */
  const execute = (command: string) => {
    const [program, ...args] = words(command)
    expect(program).toBe('indicator-sync')
    // Only the emulator has a catalogue.
    return runCommand(dir, args, args[0] === 'discover' ? serviceAt(emulator.url, emulator.key) : env)
  }
  return { dir, service, write, withStore, jobSource, run, check, execute }
}

type World = Awaited<ReturnType<typeof createWorld>>

interface Situation {
  readonly kind: FindingKind
  readonly cause?: string
  /** What is wrong. */
  readonly given: (world: World) => Promise<unknown>
  /** What the message says. */
  readonly says?: RegExp
  /** What happens before the user enters the command. */
  readonly repair?: (world: World) => unknown
  readonly deep?: true
}

const refuse = (status: number) => (world: World) => {
  world.service.state.status = () => status
}
const accept = (world: World): void => {
  world.service.state.status = () => undefined
}
/** Gives up at once. */
/** Stores the definition of a job three days ago, without a run. */
async function store({ write, withStore, jobSource }: World, yaml: string): Promise<void> {
  const text = named('test', yaml)
  write('test.yaml', text)
  const context = { service: SERVICES.generic, nowMs: () => Date.now() - 3 * DAY }
  const spec = { job: readJob(text, 'test.yaml', SERVICES.generic), source: jobSource('test.yaml') }
  await withStore((db) => storeDefinition({ ...context, store: db }, spec))
}
const BREAKER = { failures: 1, pauseMs: 1, openings: 1, giveUpMs: 1 }
const hole = (at: number): boolean => at >= seconds('2025-10-12T04:00:00Z') && at < seconds('2025-10-12T07:00:00Z')

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a refused key': {
    kind: 'key',
    given: async (world) => {
      refuse(403)(world)
      await world.run('test.yaml', named('test', series('5, 6')))
    },
    repair: accept,
  },
  'a service that is down': {
    kind: 'service down',
    given: async (world) => {
      refuse(503)(world)
      await world.run('test.yaml', named('test', series('5, 6, 7')), { breaker: BREAKER })
    },
    repair: accept,
  },
  'a full disk': {
    kind: 'last run',
    given: ({ run }) =>
      run('test.yaml', named('test', series('5')), { onProgress: () => Promise.reject(new StoreError('Disk full.')) }),
  },
  'a spent budget': {
    kind: 'unfinished',
    given: async ({ run, write }) => {
      await run('test.yaml', `name: test\npace: { perSecond: 50, callsPerDay: 1 }\n${series('5, 6')}`)
      write('test.yaml', named('test', series('5, 6')))
    },
  },
  'a job that never ran': {
    kind: 'never run',
    given: async (world) => {
      await store(world, series('5'))
    },
  },
  'a job that runs no more': {
    kind: 'no run',
    given: async ({ run }) => {
      const rolling = 'series: [{ indicators: [5], window: { last: 5d }, refresh: 1h }]'
      for (let n = 12; n > 7; n--) await run('test.yaml', named('test', rolling), { now: Date.now() - n * DAY })
    },
  },
  'series of an earlier version': {
    kind: 'not judged',
    given: async ({ run, withStore }) => {
      await run('test.yaml', named('test', series('5')))
      await withStore(async (store) => store.run('update series_geo set kind = null', []))
    },
  },
  'a failed request': {
    kind: 'failure',
    given: async ({ run, service }) => {
      service.state.status = (path) => (path.endsWith('/6') ? 500 : undefined)
      await run('test.yaml', named('test', series('5, 6')))
    },
    repair: accept,
  },
  'a reply with invalid rows': {
    kind: 'quarantine',
    given: async ({ run, service }) => {
      service.state.spoiled = (at) => at < seconds('2025-10-03T00:00:00Z')
      await run('test.yaml', named('test', series('5')))
    },
    repair: ({ service }) => {
      service.state.spoiled = () => false
    },
  },
  'invalid rows of several nights': {
    kind: 'quarantine',
    given: async ({ run, service }) => {
      const noon = Math.floor(Date.now() / DAY) * 86_400 - 129_600
      service.state.spoiled = (at) => at === noon || at === noon - 86_400
      const rolling = 'series: [{ indicators: [5], window: { last: 5d }, refresh: 1h }]'
      for (const n of [2, 1, 0]) await run('test.yaml', named('test', rolling), { now: Date.now() - n * DAY })
    },
  },
  'lost values': {
    kind: 'gap',
    cause: 'absent',
    given: async ({ run, service }) => {
      service.state.has = (at) => !hole(at)
      await run('test.yaml', named('test', series('5')))
    },
    repair: ({ service }) => {
      service.state.has = () => true
    },
  },
  'a reply that lacks stored values': {
    kind: 'gap',
    cause: 'unverified',
    given: async ({ run, service, dir, execute }) => {
      service.state.spoiled = (at) => at === seconds('2025-10-03T10:00:00Z')
      await run('test.yaml', named('test', series('5')))
      service.state.spoiled = () => false
      service.state.has = (at) => !hole(at) && !hole(at + 6 * 3600)
      await execute(`indicator-sync retry --database ${join(dir, 'market.db')}`)
    },
  },
  'an indicator that was added to a job': {
    kind: 'gap',
    cause: 'never requested',
    given: async (world) => {
      await world.run('test.yaml', named('test', series('5')), { now: Date.now() - 4 * DAY })
      await store(world, series('5, 6'))
    },
  },
  'a deleted job file': {
    kind: 'job file',
    given: async (world) => {
      refuse(503)(world)
      await world.run('gone.yaml', named('test', series('5')), { breaker: BREAKER })
      rmSync(join(world.dir, 'gone.yaml'))
    },
  },
  'two files with one name': {
    kind: 'same name',
    given: async ({ run }) => {
      await run('a.yaml', named('test', series('5')))
      await run('b.yaml', named('test', series('6')))
    },
  },
  'an unknown id': {
    kind: 'unknown id',
    given: async ({ run, service }) => {
      service.state.status = (path) => (path.endsWith('/6') ? 404 : undefined)
      await run('test.yaml', named('test', series('5, 6')))
    },
    repair: ({ write }) => write('test.yaml', named('test', series('5'))),
    says: /^the service does not know indicator 6\. Correct or remove it in job test, then run the job;/,
  },
  'a request that the service rejects': {
    kind: 'failure',
    given: async ({ run, service }) => {
      service.state.status = (path) => (path.endsWith('/6') ? 400 : undefined)
      await run('test.yaml', named('test', series('5, 6')))
    },
    repair: ({ write }) => write('test.yaml', named('test', series('5'))),
    says: /^1 request failed: The service rejected .* Correct series\[0\] of job test, then run the job: the service would reject the same request again\. Missing/,
  },
  'wrong geos in many entries': {
    kind: 'geo',
    given: ({ run }) =>
      run(
        'test.yaml',
        named('test', `${series('5', ', geoIds: [3, 98]').slice(0, -1)}, ${series('5', ', geoIds: [99]').slice(9)}`),
      ),
    repair: ({ write }) => write('test.yaml', named('test', series('5', ', geoIds: [3]'))),
    says: /^indicator 5 has no values for geo 98, 99; values are stored for 3\. Unless they are still to come, correct job test, then run the job$/,
  },
  'an indicator without values': {
    kind: 'no values',
    given: async ({ run, service }) => {
      service.state.has = () => false
      await run('test.yaml', named('test', series('5')))
    },
    repair: ({ service, write }) => {
      service.state.has = () => true
      write('test.yaml', named('test', series('6')))
    },
    says: /^indicator 5 has no values: the service responded without any\. Unless they are still to come, correct job test, then run the job$/,
  },
  'values that another program changed': {
    kind: 'daily totals',
    deep: true,
    given: async ({ run, withStore }) => {
      await run('test.yaml', named('test', series('5')))
      await withStore(async (store) =>
        store.run('update observation set value = 7 where at = (select min(at) from observation)', []),
      )
    },
  },
}

test.each(Object.entries(SITUATIONS))('the command after %s ends the only finding', async (_name, situation) => {
  const { kind, cause, given, says = /./, repair = () => undefined, deep } = situation
  const world = await createWorld()
  await given(world)
  const flags = deep ? ['--deep'] : []
  const findings = await world.check(...flags)
  expect(
    findings.map((finding) => [finding.kind, finding.message]),
    'one cause, one finding',
  ).toEqual([[kind, expect.any(String)]])
  const [{ command, message, cause: found }] = findings as [Finding]
  expect(message).toMatch(says)
  if (cause) expect(found).toBe(cause)
  await repair(world)
  const done = await world.execute(command!)
  expect([done.code, done.err], `${command}\n${done.out}`).toEqual([expect.toBeOneOf([0, 1]), expect.any(String)])
  const left = await world.check(...flags)
  expect(left.filter((finding) => finding.kind === kind && finding.cause === found)).toEqual([])
})

/** Commands in the message of a finding. */
const inMessage = ({ message }: Finding): string[] =>
  [...message.matchAll(/`(indicator-sync [^`]+)`/g)].map(([, command]) => command!)

/** Situations that no command ends: the message says what a person must do. */
const LEFT_TO_PERSONS: Readonly<
  Record<string, Omit<Situation, 'repair' | 'deep' | 'says'> & { readonly says: RegExp }>
> = {
  'a series that ended': {
    kind: 'late',
    given: async ({ run, service }) => {
      service.state.has = (at) => at < Date.now() / 1000 - 12 * 86_400
      await run('test.yaml', named('test', 'series: [{ indicators: [5], window: { last: 30d }, lookback: 2d }]'))
    },
    says: /^indicator 5, geo 3: no value from .* on, which is later .* Check the source\. If the series has ended: `indicator-sync gaps accept/,
  },
  'values that are missing for half a year': {
    kind: 'gap',
    given: async ({ run, service, withStore }) => {
      service.state.has = (at) => !hole(at)
      await run('test.yaml', named('test', series('5, 6')))
      await withStore(async (store) => {
        store.run('update _absent set since_at = since_at - 40000000', [])
        // Too long for a command that requests them again.
        store.run(
          `insert into _absent (series_id, geo_id, from_at, to_at, step_s, missing, reason, since_at, checked_at)
           select series_id, geo_id, from_at - 777600, from_at - 774000, step_s, 1, reason, since_at, checked_at from _absent`,
          [],
        )
        await judgeAgain(store)
      })
    },
    says: /no sync requests it any more\. If this is known: `indicator-sync gaps accept 5 --series 1 /,
  },
}

test.each(Object.entries(LEFT_TO_PERSONS))(
  'the message about %s says what to do',
  async (_name, { kind, given, says }) => {
    const world = await createWorld()
    await given(world)
    const findings = (await world.check()).filter((finding) => finding.kind === kind)
    const [finding] = findings as [Finding]
    expect(finding.message).toMatch(says)
    if (kind !== 'gap') expect([findings.length, finding.command]).toEqual([1, null])
    for (const command of inMessage(finding)) {
      const { code, err } = await world.execute(command)
      expect([command, code, err]).toEqual([command, 0, expect.any(String)])
      if (!command.includes('gaps accept')) continue
      const left = (await world.check()).filter(({ subject }) => subject === finding.subject)
      expect(left).toEqual([])
    }
  },
)
