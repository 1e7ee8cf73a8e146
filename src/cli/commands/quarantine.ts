import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../db/store.ts'
import { readOpenRejects } from '../../findings/openRejects.ts'
import { dismiss } from '../../load/quarantine/quarantine.ts'
import { InputError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader, withWriter } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { format, print, printResult, stream } from '../terminal/output.ts'

export const positionals = {
  action: { type: 'string', choices: ['list', 'dismiss'], demandOption: true, describe: 'Action' },
  ids: { type: 'number', array: true, describe: 'Ids of entries to dismiss' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  alike: {
    type: 'boolean',
    default: false,
    describe: 'Also dismiss others of this series or list and reason',
  },
  reason: { type: 'string', describe: 'Record why entries are dismissed' },
  ...JSON_FLAG,
} as const
export const examples = [
  'quarantine list --database data/demo.db',
  'quarantine dismiss 17 18 --reason "known misprint"',
  'quarantine dismiss 17 --alike --reason "known misprint"',
]

type QuarantineArgs = Args<typeof flags, typeof positionals>

const COLUMNS = [
  'id',
  'created_at',
  'run_id',
  'fetch_id',
  'target',
  'path',
  'reason',
  'fragment',
  'resolved_at',
  'dismissed',
] as const

/** Counts the rejects of the listed responses that are not stored. */
async function countUnlisted({ kysely }: Reader): Promise<number> {
  const responses = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(({ fn }) => ['f.rows_rejected', fn.countAll<number>().as('stored')])
    .groupBy('f.id')
    .having(({ fn, eb }) => eb(fn.count<number>('q.resolved_at'), '<', fn.countAll<number>()))
    .execute()
  return responses.reduce((sum, { rows_rejected, stored }) => sum + Math.max(0, rows_rejected - stored), 0)
}

/** `quarantine list`: lists the open entries. */
const listEntries = (file: string, { json }: QuarantineArgs): Promise<number> =>
  withReader(file, async (reader) => {
    const entries = await reader.kysely
      .selectFrom('_quarantine as q')
      .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
      .select(['q.id', 'q.created_at', 'q.run_id', 'q.fetch_id', 'f.target', 'q.path', 'q.reason', 'q.fragment'])
      .select(['q.resolved_at', 'q.dismissed'])
      .where('q.resolved_at', 'is', null)
      .orderBy('q.id')
      .execute()
    const rows = entries.map((entry) => COLUMNS.map((column) => entry[column]))
    if (!json && rows.length === 0) print('The quarantine is empty.')
    else await stream(format(json ? 'json' : 'table', COLUMNS, [rows]))
    const more = await countUnlisted(reader)
    const counted = `${quantity(more, 'more row')} of the same responses ${more === 1 ? 'is' : 'are'} counted but not listed.`
    if (more && !json) print(counted)
    return EXIT.done
  })

/** The ids of the entries that are like some, which include these. */
function alikeIds(open: Awaited<ReturnType<typeof readOpenRejects>>, ids: readonly number[]): number[] {
  const keys = new Set(open.flatMap(({ id, key }) => (ids.includes(id) ? key : [])))
  return open.flatMap(({ id, key }) => (keys.has(key) ? id : []))
}

/** Counts the responses with some quarantine entries whose data is still to be requested again. */
async function countUnverified({ kysely }: Reader, ids: readonly number[]): Promise<number> {
  const { responses } = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(({ fn }) => fn.count<number>('f.id').distinct().as('responses'))
    .where('q.id', 'in', ids)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('f.outcome', 'not in', GOOD_OUTCOMES),
        exists(
          selectFrom('_coverage as c')
            .select('c.from_at')
            .whereRef('c.series_id', '=', 'f.series_id')
            .where('c.state', '=', 'unverified')
            .whereRef('c.from_at', '<', 'f.to_at')
            .whereRef('c.to_at', '>', 'f.from_at'),
        ),
      ]),
    )
    .executeTakeFirstOrThrow()
  return responses
}

/** `quarantine dismiss`: closes entries with a reason; all of them, or none. */
async function dismissEntries(file: string, args: QuarantineArgs): Promise<number> {
  const ids = args.ids ?? []
  const reason = args.reason?.trim() ?? ''
  const refuse = (message: string): never => {
    throw new InputError(message, {
      hint: '`indicator-sync quarantine list` shows the ids. Example: indicator-sync quarantine dismiss 17 18 --reason "known misprint"',
      code: 'bad-dismissal',
    })
  }
  if (ids.length === 0) refuse('quarantine dismiss needs at least one id.')
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1)) refuse('An id must be a whole number, 1 or more.')
  if (reason === '') refuse('quarantine dismiss needs --reason.')
  const open = await withReader(file, readOpenRejects)
  const unknown = ids.filter((id) => open.every((entry) => entry.id !== id))
  if (unknown.length > 0) refuse(`No open quarantine entry has the id ${unknown.join(', ')}.`)
  return withWriter(file, 'quarantine dismiss', async (store) => {
    const named = args.alike ? alikeIds(open, ids) : [...new Set(ids)]
    const dismissed = await dismiss(store, named, reason, Date.now())
    const left = open.length - dismissed.length
    const unverified = await countUnverified(store, dismissed)
    const lines = [`${grouped(dismissed.length)} dismissed, including identical entries; ${grouped(left)} still open.`]
    if (unverified > 0)
      lines.push(
        `${quantity(unverified, 'response')} still to be verified: a sync requests ${unverified === 1 ? 'its range' : 'their ranges'} again when due, \`indicator-sync retry\` now.`,
      )
    printResult(args, { dismissed, reason, left, unverified }, lines.join('\n'))
    return EXIT.done
  })
}

export async function handler(args: QuarantineArgs): Promise<number> {
  const { database } = readSettings(args)
  if (args.action === 'dismiss') return dismissEntries(database.value, args)
  if ((args.ids ?? []).length > 0)
    throw new InputError('quarantine list takes no ids.', {
      hint: 'Only `quarantine dismiss` takes ids.',
      code: 'too-many-arguments',
    })
  return listEntries(database.value, args)
}
