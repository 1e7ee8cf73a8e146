import { ALL_GEOS } from '../../db/tables/codes.ts'
import {
  countProvisional,
  findGaps,
  findProvisional,
  type ListedGap,
  provisionalText,
} from '../../findings/findGaps.ts'
import { findLackingGeos } from '../../findings/readers/lackingGeos.ts'
import { listAllNames, listNames } from '../../findings/words.ts'
import { MOMENT_FORM, parseMoment, resolveMoment } from '../../job/moment.ts'
import { findFailedRuns, findUnfinishedRuns } from '../../state/lastRuns.ts'
import { type AcceptedGap, acceptGaps, listAccepted, refuseAcceptance, reopenGaps } from '../../sync/acceptGaps.ts'
import { quantity } from '../../util/text.ts'
import { type Instant, toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, LIMIT_FLAG, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader, withWriter } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print, printResult, warnOfLimit } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'
import { lackingGeosTexts } from '../text/summary.ts'

export const positionals = {
  action: { type: 'string', choices: ['accept', 'reopen'], describe: 'Accept gaps, or undo that; default: list gaps' },
  ids: { type: 'number', array: true, describe: 'Indicator to accept, or ids to reopen (gaps --accepted)' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  geo: { type: 'number', describe: 'Accept gaps of this geo (default: all with gaps)' },
  series: { type: 'number', describe: 'Accept gaps of this series, if the indicator has several' },
  ...RANGE_FLAGS,
  note: { type: 'string', describe: 'Record why gaps are accepted' },
  accepted: { type: 'boolean', default: false, describe: 'List accepted gaps' },
  provisional: { type: 'boolean', default: false, describe: 'Also list missing values that may still be published' },
  ...LIMIT_FLAG,
  fail: { type: 'boolean', default: false, describe: 'Exit 6 if data is missing' },
  ...JSON_FLAG,
} as const
export const examples = [
  'gaps --database data/demo.db',
  'gaps --fail --json --database data/demo.db',
  'gaps accept 600 --from 2021-03-28 --to 2021-03-29 --note "never published"',
  'gaps accept 547 --from 2022-01-01 --note "the series has ended"',
]

const COLUMNS = [
  'series_id',
  'kind',
  'indicator_id',
  'time_trunc',
  'geo_id',
  'from',
  'to',
  'reason',
  'missing',
  'step_s',
  'expected_in_day',
  'next',
] as const

type GapsArgs = Args<typeof flags, typeof positionals>

const ACCEPTED_COLUMNS = [
  'id',
  'series_id',
  'kind',
  'indicator_id',
  'geo_id',
  'from',
  'to',
  'note',
  'created_at',
] as const

/** Parses the moment of a flag, which is resolved in the zone of a series. */
function parseFlag(flag: string, text: string): (zone: string) => Instant {
  const moment = parseMoment(text)
  if (!moment) refuseAcceptance(`${flag} is ${JSON.stringify(text)}, which is not a time.`, `Write ${MOMENT_FORM}.`)
  return (zone) => resolveMoment(moment!, zone, toInstant(Date.now()))
}

function printAccepted(args: GapsArgs, accepted: readonly AcceptedGap[], text: string): void {
  const rows = accepted.map((row) =>
    ACCEPTED_COLUMNS.map((column) => (column === 'to' ? (row.to ?? 'open') : row[column])),
  )
  const table = rows.length === 0 ? '' : `\n${tableText({ columns: ACCEPTED_COLUMNS, rows })}`
  printResult(args, accepted, `${text}${table}`)
}

const USE_ACCEPT = 'Example: indicator-sync gaps accept 600 --from 2021-03-28 --to 2021-03-29 --note "never published"'

/** `gaps accept`: accepts the gaps of an indicator in a range. */
async function accept(file: string, args: GapsArgs): Promise<number> {
  const { from, to, geo, series } = args
  const [indicatorId, ...more] = args.ids ?? []
  const note = args.note?.trim() ?? ''
  if (indicatorId === undefined || more.length > 0 || !Number.isSafeInteger(indicatorId))
    refuseAcceptance('gaps accept needs one indicator.', USE_ACCEPT)
  if (from === undefined) refuseAcceptance('gaps accept needs --from.', USE_ACCEPT)
  if (note === '') refuseAcceptance('gaps accept needs --note with the reason.', USE_ACCEPT)
  const request = {
    indicatorId: indicatorId!,
    seriesId: series,
    geoId: geo,
    from: parseFlag('--from', from!),
    to: to === undefined ? null : parseFlag('--to', to),
    note,
  }
  return withWriter(file, 'gaps accept', async (store) => {
    const accepted = await acceptGaps(store, request, Date.now())
    printAccepted(args, accepted, `Accepted ${quantity(accepted.length, 'gap')}. Undo: indicator-sync gaps reopen ID`)
    return EXIT.done
  })
}

/** `gaps reopen`: undoes acceptances by their ids. */
async function reopen(file: string, args: GapsArgs): Promise<number> {
  const ids = args.ids ?? []
  if (ids.length === 0)
    refuseAcceptance('gaps reopen needs at least one id.', '`indicator-sync gaps --accepted` lists the ids.')
  return withWriter(file, 'gaps reopen', async (store) => {
    const reopened = await reopenGaps(store, ids, Date.now())
    printAccepted(args, reopened, `Reopened ${quantity(reopened.length, 'gap')}.`)
    return EXIT.done
  })
}

/** Listed runs that failed or did not finish. */
const SHOWN_RUNS = 10
/** Geos that a row names; of more, it has their number. */
const MAX_GEOS = 5

/** The rows of a table of gaps. Geos of a series that lack the same range for one reason share a row, which names at most `maxGeos`. */
function gapRows(gaps: readonly ListedGap[], maxGeos: number) {
  const others = COLUMNS.filter((column) => column !== 'geo_id')
  const alike = Map.groupBy(gaps, (gap) => others.map((column) => gap[column]).join(' '))
  return [...alike.values()].map((ofRange) => {
    const geoIds = ofRange.map(({ geo_id }) => (geo_id === ALL_GEOS ? 'all geos' : geo_id))
    const geos = geoIds.length > maxGeos ? `${geoIds.length} geos` : geoIds.join(', ')
    return COLUMNS.map((column) => (column === 'geo_id' ? geos : ofRange[0]![column]))
  })
}

export function handler(args: GapsArgs): Promise<number> {
  const file = readSettings(args).database.value
  if (args.action === 'accept') return accept(file, args)
  if (args.action === 'reopen') return reopen(file, args)
  return withReader(file, async (reader) => {
    if (args.accepted) {
      const accepted = await listAccepted(reader)
      printAccepted(args, accepted, accepted.length === 0 ? 'No gaps are accepted.' : 'Accepted gaps:')
      return EXIT.done
    }
    const incomplete = [...(await findFailedRuns(reader)), ...(await findUnfinishedRuns(reader))]
    const now = toInstant(Date.now())
    const gaps = [...(await findGaps(reader, now)), ...(args.provisional ? await findProvisional(reader, now) : [])]
    const lacking = await findLackingGeos(reader, now)
    // `--limit 0` prints all rows, each with all its geos.
    const allRows = gapRows(gaps, args.limit === 0 ? Number.POSITIVE_INFINITY : MAX_GEOS)
    const rows = allRows.slice(0, args.limit || allRows.length)
    const isComplete = incomplete.length + lacking.length === 0
    const noGaps = isComplete
      ? 'No gaps: no final value that the jobs select is known to be missing.'
      : 'No known gaps, but data may be missing:'
    printResult(args, gaps, rows.length > 0 ? tableText({ columns: COLUMNS, rows }) : noGaps)
    if (!args.json) {
      // Names the number of ranges, too, because other commands count those.
      const ranges = allRows.length < gaps.length ? ` rows, which stand for ${quantity(gaps.length, 'range')}` : ''
      warnOfLimit(args, rows.length, allRows.length, ranges)
      if (ranges !== '' && rows.length === allRows.length)
        print(
          `${quantity(rows.length, 'row')} for ${quantity(gaps.length, 'range')}: geos that lack the same range share a row.`,
        )
      // A failed run may not even have known what its job selects.
      for (const { what } of incomplete.slice(0, SHOWN_RUNS)) print(`Warning: ${what}`)
      if (incomplete.length > SHOWN_RUNS)
        print(`… and ${incomplete.length - SHOWN_RUNS} more incomplete runs: indicator-sync check --all`)
      for (const line of lackingGeosTexts(lacking, args.limit === 0 ? listAllNames : listNames)) print(line)
      if (rows.length === 0) print(provisionalText(await countProvisional(reader)))
    }
    return args.fail && !(isComplete && gaps.every(({ tolerated }) => tolerated)) ? EXIT.check : EXIT.done
  })
}
