import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import type { NamedGeo } from '../../job/geoNames.ts'
import { readJob } from '../../job/read.ts'
import {
  geosOfIndicators,
  type Holding,
  hasCatalogue,
  holdings,
  SEARCH_SCOPES,
  searchGeos,
  searchItems,
} from '../../reports/search.ts'
import { listSecrets } from '../../service/key.ts'
import type { Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, LIMIT_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { runJobs } from '../jobs/runJobs.ts'
import { isThere, readSettings, requireService, type Settings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
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

/** What `--refresh` requests: the catalogue in every language, even if the stored one is new. */
const catalogue = ({ locales }: Service): string =>
  `name: discover\nlocales: [${locales.join(', ')}]\ncatalogue: true\n`

async function refreshCatalogue(args: DiscoverArgs, settings: Settings): Promise<number> {
  const reached = requireService(settings)
  const { service, key } = reached
  const log = logFor(args, listSecrets(key))
  const { code, summaries } = await runJobs([readJob(catalogue(service), 'discover', undefined, service)], {
    ...reached,
    file: settings.database.value,
    command: 'discover',
    log,
    quiet: args.quiet,
    optionsFor: () => ({ restate: true }),
  })
  // The JSON log has events for this.
  for (const summary of args.logFormat === 'json' ? [] : summaries) log.info(summaryText(summary))
  return code
}

/** Refuses to fetch a missing catalogue without an address or key of the service; the error names the catalogue first. */
function checkCanFetch(settings: Settings): void {
  try {
    requireService(settings)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const { message, hint, code } = error
    throw new InputError(`The catalogue is not stored. To fetch it, --refresh needs an API key. ${message}`, {
      ...(hint && { hint }),
      code,
    })
  }
}

interface Found {
  readonly kind: string
  readonly id: number
  readonly name: string | null
}

const GEOS_IN_LIST = 3

/** The geos of an indicator: all if it is the only one that was found, else the first ones. */
function geosText(geos: readonly NamedGeo[], only: boolean): string {
  const shown = only ? geos : geos.slice(0, GEOS_IN_LIST)
  const more = geos.length - shown.length
  return [...shown.map(({ id, name }) => `${id} ${name}`), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

async function findItems(reader: Reader | null, service: Service, args: DiscoverArgs): Promise<Found[]> {
  const text = args.text ?? ''
  const geos = ['geos', 'all'].includes(args.in)
    ? (await searchGeos(reader, service, text)).map((geo) => ({ kind: 'geo', ...geo }))
    : []
  if (args.in === 'geos' || !reader) return geos
  return [...(await searchItems(reader, text, args.in === 'all' ? SEARCH_SCOPES : [args.in])), ...geos]
}

const openIfThere = async (file: string): Promise<Reader | null> => ((await isThere(file)) ? openReader(file) : null)

export async function handler(args: DiscoverArgs): Promise<number> {
  const settings = readSettings(args)
  const [database, service] = [settings.database.value, settings.service.value]
  const needsCatalogue = ['catalogue', 'all'].includes(args.in)
  let code: number = EXIT.done
  // With --refresh the run comes first: it may migrate the database.
  let reader = args.refresh ? null : await openIfThere(database)
  const isMissing = needsCatalogue && !(reader && (await hasCatalogue(reader)))
  const canFetch = settings.key !== null && settings.baseUrl !== null
  if (args.refresh || (isMissing && (canFetch || !reader))) {
    await reader?.close()
    if (isMissing && !args.refresh) checkCanFetch(settings)
    code = await refreshCatalogue(args, settings)
    reader = await openIfThere(database)
    if (!reader) return code
  }
  // Opening a file that does not exist says what to do.
  if (args.in !== 'geos') reader ??= openReader(database)
  try {
    const found = await findItems(reader, service, args)
    const stored = reader ? await holdings(reader) : new Map<string, Holding>()
    const names = new Map((await searchGeos(reader, service, '')).map((geo) => [geo.id, geo]))
    const ids = reader ? await geosOfIndicators(reader, service) : new Map<string, ReadonlySet<number>>()
    const rows = (args.limit > 0 ? found.slice(0, args.limit) : found).map((one) => {
      const key = `${one.kind} ${one.id}`
      const geos = [...(ids.get(key) ?? [])].sort((a, b) => a - b).map((id) => names.get(id) ?? { id, name: '' })
      return { ...one, stored: stored.get(key) ?? null, geos }
    })
    if (args.json) print(JSON.stringify(rows, null, 2))
    else if (args.in === 'geos' && rows.length > 0)
      print(tableText({ columns: ['id', 'name'], rows: rows.map(({ id, name }) => [id, name]) }))
    else if (rows.length > 0) {
      const cells = rows.map(({ kind, id, name, stored: held, geos }) => [
        id,
        kind,
        name,
        held ? `${held.first_day} … ${held.last_day}, ${quantity(held.geos, 'geo')}` : '',
        geosText(geos, rows.length === 1),
      ])
      print(tableText({ columns: ['id', 'kind', 'name', 'stored', 'geos'], rows: cells }))
    } else print(nothingText(args, reader !== null && (await hasCatalogue(reader))))
    if (rows.length < found.length && !args.quiet)
      process.stderr.write(`Showing the first ${args.limit} of ${grouped(found.length)}. Use --limit 0 to show all.\n`)
    return code
  } finally {
    await reader?.close()
  }
}

function nothingText({ text = '', in: place }: DiscoverArgs, listed: boolean): string {
  if (!listed && ['catalogue', 'all'].includes(place))
    return 'The catalogue is not stored. Fetch it with `indicator-sync discover --refresh` (needs an API key), or with `catalogue: true` in a job.'
  return text === '' ? 'Nothing is stored.' : `Nothing matches ${JSON.stringify(text)}. Try fewer words, or --in all.`
}
