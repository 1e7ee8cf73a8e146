import { readTape, tapeState } from '../audit/tape.ts'
import { openReader } from '../db/open.ts'
import { reread } from '../reread.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { format, grouped, print, stream } from './output.ts'
import { rebuild } from './replay.ts'

interface QuarantineArgs extends CommonArgs, DatabaseArgs {
  readonly action: 'list' | 'replay'
  readonly json: boolean
  readonly all: boolean
}

const COLUMNS = ['id', 'created_at', 'run_id', 'fetch_id', 'target', 'path', 'reason', 'fragment', 'resolved_at']

/** `quarantine list`: what could not be understood, with its place, the reason and what stood there. */
async function list(file: string, { all, json }: QuarantineArgs): Promise<number> {
  const reader = openReader(file)
  try {
    const rows = [
      ...reader.rows(
        `select q.id, q.created_at, q.run_id, q.fetch_id, f.target, q.path, q.reason, q.fragment, q.resolved_at
         from _quarantine q join _fetch f on f.id = q.fetch_id
         where ? or q.resolved_at is null order by q.id`,
        [all ? 1 : 0],
      ),
    ]
    const empty = 'Nothing is in quarantine: all that came was understood.'
    if (!json && rows.length === 0) print(empty)
    else await stream(format(json ? 'json' : 'table', COLUMNS, rows))
    return EXIT.done
  } finally {
    reader.raw.close()
  }
}

/** How many rows in quarantine there are, and how many the present program understands. */
function tryAgain(file: string): { open: number; understood: number; whole: boolean } {
  const reader = openReader(file)
  try {
    let understood = 0
    for (const taped of readTape(reader, 'quarantined')) {
      const rows = reread(taped)
      if (!rows) continue
      const still = JSON.stringify(rows.rejects.map(({ path }) => path))
      understood += reader.get(
        `select count(*) from _quarantine where fetch_id = ? and resolved_at is null
         and path not in (select value from json_each(?))`,
        [taped.fetchId, still],
      ) as number
    }
    const open = reader.get('select count(*) from _quarantine where resolved_at is null') as number
    return { open, understood, whole: tapeState(reader).missing === 0 }
  } finally {
    reader.raw.close()
  }
}

export async function run(args: QuarantineArgs): Promise<number> {
  const file = readSettings(args).database.value
  if (args.action === 'list') return list(file, args)
  const { open, understood, whole } = tryAgain(file)
  // A value must take its place between earlier and later versions: the rows are made again from all replies, in order.
  const replayed = understood > 0 && whole
  if (replayed) await rebuild(file, () => undefined)
  const left = replayed ? open - understood : open
  const says = [
    open === 0
      ? 'Nothing is in quarantine.'
      : `${grouped(understood)} of ${grouped(open)} rows in quarantine are understood now${replayed ? ', and loaded' : ''}.`,
    ...(understood > 0 && !whole
      ? [
          '  → Not every reply is on the tape, so they cannot take their place in the history; the next sync asks their windows again.',
        ]
      : []),
  ]
  print(args.json ? JSON.stringify({ open, understood, loaded: replayed, left }, null, 2) : says.join('\n'))
  return left === 0 ? EXIT.done : EXIT.partial
}
