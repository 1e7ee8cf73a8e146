import { openWriter } from '../../db/lock.ts'
import { openReader } from '../../db/open.ts'
import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../db/store.ts'
import { dismiss } from '../../load/quarantine/quarantine.ts'
import { readReplies, replyStoreState } from '../../reports/replies.ts'
import type { Service } from '../../service/service.ts'
import { readStored } from '../../sync/readReply.ts'
import { InputError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { format, print, stream } from '../terminal/output.ts'
import { rebuild } from './replay.ts'

export const positionals = {
  action: { type: 'string', choices: ['list', 'replay', 'dismiss'], demandOption: true, describe: 'Action' },
  ids: { type: 'number', array: true, describe: 'Ids of entries to dismiss' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  reason: { type: 'string', describe: 'Record why entries are dismissed' },
  ...JSON_FLAG,
} as const
export const examples = [
  'quarantine list --database data/demo.db',
  'quarantine dismiss 17 18 --reason "known misprint"',
]

type QuarantineArgs = Args<typeof flags, typeof positionals>

const COLUMNS = [
  ...([
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
  ] as const),
]

/** How many more rejects the listed answers have than are stored. */
async function notKept({ kysely }: Reader): Promise<number> {
  const answers = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(({ fn }) => [
      'f.rows_rejected',
      fn.countAll<number>().as('kept'),
      fn.count<number>('q.resolved_at').as('closed'),
    ])
    .groupBy('f.id')
    .execute()
  return answers
    .filter(({ kept, closed }) => closed < kept)
    .reduce((sum, { rows_rejected, kept }) => sum + Math.max(0, rows_rejected - kept), 0)
}

/** The numbers of what is open. */
const openIn = async ({ kysely }: Reader): Promise<number[]> =>
  (await kysely.selectFrom('_quarantine').select('id').where('resolved_at', 'is', null).execute()).map(({ id }) => id)

/** `quarantine list`: what could not be understood, with path, reason and fragment. */
async function listEntries(file: string, { json }: QuarantineArgs): Promise<number> {
  const reader = openReader(file)
  try {
    const entries = await reader.kysely
      .selectFrom('_quarantine as q')
      .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
      .select(['q.id', 'q.created_at', 'q.run_id', 'q.fetch_id', 'f.target', 'q.path', 'q.reason', 'q.fragment'])
      .select(['q.resolved_at', 'q.dismissed'])
      .where('q.resolved_at', 'is', null)
      .orderBy('q.id')
      .execute()
    const rows = entries.map((entry) => COLUMNS.map((column) => entry[column]))
    const empty = 'The quarantine is empty.'
    if (!json && rows.length === 0) print(empty)
    else await stream(format(json ? 'json' : 'table', COLUMNS, [rows]))
    const more = await notKept(reader)
    if (more && !json)
      print(
        `${quantity(more, 'more row', 'more rows')} of the same responses ${more === 1 ? 'is' : 'are'} counted but not listed.`,
      )
    return EXIT.done
  } finally {
    await reader.close()
  }
}

/** `quarantine dismiss`: closes entries with a reason. All of them, or none. */
async function dismissed(file: string, { ids = [], reason = '', json }: QuarantineArgs): Promise<number> {
  const say = (message: string): never => {
    throw new InputError(message, {
      hint: '`indicator-sync quarantine list` shows the ids. Example: indicator-sync quarantine dismiss 17 18 --reason "known misprint"',
      code: 'bad-dismissal',
    })
  }
  if (ids.length === 0) say('quarantine dismiss needs at least one id.')
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1)) say('An id must be a whole number, 1 or more.')
  if (reason.trim() === '') say('quarantine dismiss needs --reason.')
  const reader = openReader(file)
  const open = await openIn(reader)
  await reader.close()
  const strange = ids.filter((id) => !open.includes(id))
  if (strange.length > 0) say(`No open quarantine entry has the id ${strange.join(', ')}.`)
  const store = await openWriter(file, 'quarantine dismiss')
  try {
    const closed = await dismiss(store, [...new Set(ids)], reason.trim(), Date.now())
    const left = open.length - closed.length
    const { unread } = await store.kysely
      .selectFrom('_quarantine as q')
      .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
      .select(({ fn }) => fn.count<number>('f.id').distinct().as('unread'))
      .where('q.id', 'in', closed)
      .where('f.outcome', 'not in', GOOD_OUTCOMES)
      .executeTakeFirstOrThrow()
    const says = [
      `${grouped(closed.length)} dismissed, including identical entries; ${grouped(left)} still open.`,
      ...(unread > 0
        ? [
            `${quantity(unread, 'response')} had no valid rows: the next sync requests ${unread === 1 ? 'its window' : 'their windows'} again.`,
          ]
        : []),
    ]
    print(json ? JSON.stringify({ dismissed: closed, reason: reason.trim(), left, unread }, null, 2) : says.join('\n'))
    return EXIT.done
  } finally {
    await store.close()
  }
}

/** How many entries of the quarantine are open, and how many of them this version understands. */
async function tryAgain(file: string, service: Service): Promise<{ open: number; understood: number; whole: boolean }> {
  const reader = openReader(file)
  try {
    let understood = 0
    for await (const stored of readReplies(reader, service, 'quarantined')) {
      const rows = await readStored(stored)
      if (!rows || rows === 'damaged') continue
      const { resolved } = await reader.kysely
        .selectFrom('_quarantine')
        .select(({ fn }) => fn.countAll<number>().as('resolved'))
        .where('fetch_id', '=', stored.fetchId)
        .where('resolved_at', 'is', null)
        .where(
          'path',
          'not in',
          rows.rejects.map(({ path }) => path),
        )
        .executeTakeFirstOrThrow()
      understood += resolved
    }
    const open = (await openIn(reader)).length
    return { open, understood, whole: (await replyStoreState(reader)).missing === 0 }
  } finally {
    await reader.close()
  }
}

export async function handler(args: QuarantineArgs): Promise<number> {
  const settings = readSettings(args)
  const file = settings.database.value
  const service = settings.service.value
  if (args.action === 'dismiss') return dismissed(file, args)
  if ((args.ids ?? []).length > 0)
    throw new InputError(`quarantine ${args.action} takes no ids.`, {
      hint: 'Only `quarantine dismiss` takes ids.',
      code: 'too-many-arguments',
    })
  if (args.action === 'list') return listEntries(file, args)
  const { open, understood, whole } = await tryAgain(file, service)
  // A value must take its place between earlier and later versions, so the rows are rebuilt from all replies in order.
  const replayed = understood > 0 && whole
  if (replayed) await rebuild(file, service, () => undefined)
  const left = replayed ? open - understood : open
  const says = [
    open === 0
      ? 'The quarantine is empty.'
      : `${grouped(understood)} of ${quantity(open, 'row')} in quarantine can now be parsed${replayed ? ' and loaded' : ''}.`,
    ...(understood > 0 && !whole
      ? [
          '  → They are not loaded, because some earlier responses are not stored. The next sync requests their windows again.',
        ]
      : []),
  ]
  print(args.json ? JSON.stringify({ open, understood, loaded: replayed, left }, null, 2) : says.join('\n'))
  return left === 0 ? EXIT.done : EXIT.partial
}
