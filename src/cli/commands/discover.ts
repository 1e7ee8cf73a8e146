import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import type { NamedGeo } from '../../job/geoNames.ts'
import { normalizeJob } from '../../job/normalize.ts'
import {
  hasCatalogue,
  readIndicatorGeos,
  readStoredRanges,
  SEARCH_SCOPES,
  searchGeos,
  searchItems,
} from '../../reports/searchItems.ts'
import type { Service } from '../../service/service.ts'
import { quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, LIMIT_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { runCommand } from '../jobs/runCommand.ts'
import { type CommandSettings, readSettings, requireService } from '../settings/config.ts'
import { databaseExists } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult, warnOfLimit } from '../terminal/output.ts'
import { logFor } from '../terminal/progress.ts'
import { tableText } from '../terminal/table.ts'
import { summaryText } from '../text/summary.ts'

export const positionals = {
  text: { type: 'string', describe: 'Words to search for, quoted if several, or an id' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  refresh: { type: 'boolean', default: false, describe: 'Fetch the catalogue first' },
  in: {
    choices: ['catalogue', 'geos', 'content', 'archives', 'all'],
    default: 'catalogue',
    describe: 'Choose where to search',
  },
  ...LIMIT_FLAG,
  ...JSON_FLAG,
} as const
export const examples = ['discover precio --database data/demo.db', 'discover 600 --json --database data/demo.db']

type DiscoverArgs = Args<typeof flags, typeof positionals>

/** Fetches the catalogue in every language, even if the stored one is new. */
async function refreshCatalogue(args: DiscoverArgs, settings: CommandSettings, reason: string): Promise<number> {
  const access = requireService(settings, reason)
  const { service, key } = access
  const log = logFor(args, [key])
  const job = normalizeJob({ name: 'discover', locales: [...service.locales], catalogue: true }, service)
  const { code, summaries } = await runCommand([job], {
    settings: access,
    flags: args,
    file: settings.database.value,
    command: 'discover',
    log,
    optionsFor: () => ({ restate: true }),
  })
  // The JSON log has events for this.
  for (const summary of args.logFormat === 'json' ? [] : summaries) log.info(summaryText(summary))
  return code
}

const MAX_GEOS = 3

function geosText(geos: readonly NamedGeo[], limit: number): string {
  const hidden = geos.length - limit
  const names = geos.slice(0, limit).map(({ id, name }) => `${id} ${name}`)
  return [...names, ...(hidden > 0 ? [`${hidden} more`] : [])].join(', ')
}

async function search(reader: Reader | null, service: Service, args: DiscoverArgs) {
  const text = args.text ?? ''
  const includesGeos = ['geos', 'all'].includes(args.in)
    ? (await searchGeos(reader, service, text)).map((geo) => ({ kind: 'geo', ...geo }))
    : []
  if (args.in === 'geos' || !reader) return includesGeos
  return [...(await searchItems(reader, service, text, args.in === 'all' ? SEARCH_SCOPES : [args.in])), ...includesGeos]
}

export async function handler(args: DiscoverArgs): Promise<number> {
  const settings = readSettings(args)
  const database = settings.database.value
  const service = settings.service.value
  const openExisting = async () => ((await databaseExists(database)) ? openReader(database) : null)
  const needsCatalogue = ['catalogue', 'all'].includes(args.in)
  let code: number = EXIT.done
  // With --refresh the run comes first: it may migrate the database.
  let reader = args.refresh ? null : await openExisting()
  const isMissing = needsCatalogue && !(reader && (await hasCatalogue(reader)))
  const canFetch = settings.key !== null && settings.baseUrl !== null
  if (args.refresh || (isMissing && (canFetch || !reader))) {
    await reader?.close()
    const reason = 'The catalogue is not stored. To fetch it, --refresh needs an API key. '
    code = await refreshCatalogue(args, settings, isMissing && !args.refresh ? reason : '')
    reader = await openExisting()
    if (!reader) return code
  }
  // The error for a missing database names the next step.
  if (args.in !== 'geos') reader ??= openReader(database)
  try {
    const items = await search(reader, service, args)
    const stored = reader && (await readStoredRanges(reader))
    const names = new Map((await searchGeos(reader, service, '')).map((geo) => [geo.id, geo]))
    const ids = reader && (await readIndicatorGeos(reader, service))
    const rows = (args.limit > 0 ? items.slice(0, args.limit) : items).map((item) => {
      const key = `${item.kind} ${item.id}`
      const geoIds = [...(ids?.get(key) ?? [])].sort((a, b) => a - b)
      const geos = geoIds.map((id) => names.get(id) ?? { id, name: '' })
      return { ...item, stored: stored?.get(key) ?? null, geos }
    })
    const limit = rows.length === 1 ? Number.POSITIVE_INFINITY : MAX_GEOS
    const cells = rows.map(({ kind, id, name, stored: range, geos }) => [
      id,
      kind,
      name,
      range ? `${range.first_day} … ${range.last_day}, ${quantity(range.geos, 'geo')}` : '',
      geosText(geos, limit),
    ])
    const table =
      args.in === 'geos'
        ? { columns: ['id', 'name'], rows: rows.map(({ id, name }) => [id, name]) }
        : { columns: ['id', 'kind', 'name', 'stored', 'geos'], rows: cells }
    const isEmpty = rows.length === 0
    const text = isEmpty ? emptyText(args, reader !== null && (await hasCatalogue(reader))) : tableText(table)
    printResult(args, rows, text)
    warnOfLimit(args, rows.length, items.length)
    for (const note of args.quiet || args.json ? [] : geoNotes(service, rows)) process.stderr.write(`${note}\n`)
    return code
  } finally {
    await reader?.close()
  }
}

/** Notes about the geos of some rows, each once. */
function geoNotes(
  { geoNotes: notes = {} }: Service,
  rows: readonly { readonly kind: string; readonly id: number; readonly geos: readonly NamedGeo[] }[],
): string[] {
  const ids = new Set(
    rows.flatMap(({ kind, id, geos }) => [...(kind === 'geo' ? [id] : []), ...geos.map((geo) => geo.id)]),
  )
  return [...ids].flatMap((id) => notes[id] ?? [])
}

function emptyText({ text = '', in: scope }: DiscoverArgs, hasStored: boolean): string {
  if (!hasStored && ['catalogue', 'all'].includes(scope))
    return 'The catalogue is not stored. Fetch it with `indicator-sync discover --refresh` (needs an API key), or with `catalogue: true` in a job.'
  return text === '' ? 'Nothing is stored.' : `Nothing matches ${JSON.stringify(text)}. Try fewer words, or --in all.`
}
