import { openReader } from '../../db/open.ts'
import { readJob } from '../../job/read.ts'
import { holdings, SEARCH_SCOPES, searchItems } from '../../reports/search.ts'
import { listSecrets } from '../../service/key.ts'
import type { Service } from '../../service/service.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, LIMIT_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { runJobs } from '../jobs/runJobs.ts'
import { isThere, readSettings, requireService } from '../settings/config.ts'
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
    choices: ['catalogue', 'content', 'archives', 'all'],
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

async function refreshCatalogue(args: DiscoverArgs, file: string): Promise<number> {
  const reached = requireService(readSettings(args))
  const { service, key } = reached
  const log = logFor(args, listSecrets(key))
  const { code, summaries } = await runJobs([readJob(catalogue(service), 'discover', undefined, service)], {
    ...reached,
    file,
    command: 'discover',
    log,
    quiet: args.quiet,
    optionsFor: () => ({ restate: true }),
  })
  // The JSON log has events for this.
  for (const summary of args.logFormat === 'json' ? [] : summaries) log.info(summaryText(summary))
  return code
}

export async function handler(args: DiscoverArgs): Promise<number> {
  const file = readSettings(args).database.value
  const code = args.refresh ? await refreshCatalogue(args, file) : EXIT.done
  if (code !== EXIT.done && !(await isThere(file))) return code
  const reader = openReader(file)
  try {
    const places = args.in === 'all' ? SEARCH_SCOPES : [args.in]
    const text = args.text ?? ''
    const found = await searchItems(reader, text, places)
    const stored = await holdings(reader)
    const shown = args.limit > 0 ? found.slice(0, args.limit) : found
    if (args.json) {
      const rows = shown.map((one) => ({ ...one, stored: stored.get(`${one.kind} ${one.id}`) ?? null }))
      print(JSON.stringify(rows, null, 2))
    } else if (found.length > 0) {
      const rows = shown.map(({ kind, id, name }) => {
        const holding = stored.get(`${kind} ${id}`)
        const what = holding ? `${holding.first_day} … ${holding.last_day}, ${quantity(holding.geos, 'geo')}` : ''
        return [id, kind, name, what]
      })
      print(tableText({ columns: ['id', 'kind', 'name', 'stored'], rows }))
    } else if (text === '')
      print(
        'The catalogue is empty. Fetch it with `indicator-sync discover --refresh`, or with `catalogue: true` in a job.',
      )
    else
      print(`Nothing matches ${JSON.stringify(text)}. Try fewer words, or --in all; --refresh fetches the catalogue.`)
    if (shown.length < found.length && !args.quiet)
      process.stderr.write(`Showing the first ${args.limit} of ${grouped(found.length)}. Use --limit 0 to show all.\n`)
    return code
  } finally {
    await reader.close()
  }
}
