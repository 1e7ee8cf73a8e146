import type { Instant } from '../../util/time/instant.ts'
import { addUnits, floorTo, localDate, type Unit } from '../../util/time/zone.ts'
import { type ParsedQuery, passes, queryLocale, RequestTooLargeError, taxonomy } from '../parseQuery.ts'
import { dayAt, dayFrom } from '../world/calendar.ts'
import { EMULATED_ZONE, type World } from '../world/world.ts'

/** An archive. `lag`: days from its last day to its publication; if negative, from its first day. */
interface Archive {
  readonly id: number
  readonly name: string
  readonly horizon: string
  readonly type: string
  readonly lag: number
  readonly terms: readonly number[]
}

const archiveRows = (
  first: number,
  horizon: string,
  type: string,
  lag: number,
  terms: readonly number[],
  names: string,
) => names.split(' ').map((name, i): Archive => ({ id: first + i, name, horizon, type, lag, terms }))

const GENERATION = [155, 165, 168]
const SCHEDULES = [155, 165, 172]
const MARKET = [156, 165, 168]
const SETTLEMENT = [156, 165, 170]

/** Archives as data, with their horizons (D M A H S T QM O NA) and types. Those of 34, 92, 111 and 112 were never recorded. */
const ARCHIVES: readonly Archive[] = [
  ...archiveRows(8, 'M', 'zip', 9, SETTLEMENT, 'C2_liquicomun'),
  ...archiveRows(18, 'D', 'xml', -1, SCHEDULES, 'totalpdbf totalrpdvpprec totalpdvp totalasigsec'),
  ...archiveRows(25, 'D', 'xml', 1, SETTLEMENT, 'totalenersec totalliquicierre'),
  ...archiveRows(27, 'H', 'xml', 0, SCHEDULES, 'totalrp48prec'),
  ...archiveRows(28, 'D', 'xml', 1, SETTLEMENT, 'totalrp48preccierre'),
  ...archiveRows(29, 'H', 'xml', 0, SCHEDULES, 'totalp48'),
  ...archiveRows(30, 'D', 'xml', 1, SETTLEMENT, 'totalp48cierre'),
  ...archiveRows(32, 'D', 'zip', 4, GENERATION, 'I3DIA'),
  ...archiveRows(34, 'D', 'zip', 90, GENERATION, 'I90DIA'),
  ...archiveRows(40, 'M', 'xls', -13, MARKET, 'COEF_KEST_MM'),
  ...archiveRows(48, 'M', 'pdf', -12, MARKET, 'Espec_Subasta_Mensual_EF Espec_Subasta_Mensual_FE'),
  ...archiveRows(50, 'A', 'pdf', -28, MARKET, 'Espec_Subasta_Anual_EF Espec_Subasta_Anual_FE'),
  ...archiveRows(69, 'M', 'pdf', -4, MARKET, 'INF_SUBASTA_MM'),
  ...archiveRows(71, 'D', 'xls', 8, MARKET, 'PVPC_DETALLE_DD'),
  ...archiveRows(78, 'S', 'xml', -4, MARKET, 'perfilconsumo'),
  ...archiveRows(79, 'D', 'xml', -1, MARKET, 'preciovoluntariopconsumidor pvpcdesglosehorario'),
  ...archiveRows(88, 'A', 'xls', -14, MARKET, 'Resultado_Subasta_Anual_FRA'),
  ...archiveRows(92, 'O', 'xml', -30, GENERATION, 'Descargos_FRA_Planificados Descargos_POR_Planificados'),
  ...archiveRows(105, 'D', 'xls', 1, GENERATION, 'Indisponibilidades'),
  ...archiveRows(106, 'M', 'xls', -90, GENERATION, 'PlanesMantenimiento'),
  ...archiveRows(107, 'D', 'xml', 1, SETTLEMENT, 'p48cierre'),
  ...archiveRows(108, 'QM', 'xml', 0, GENERATION, 'REE_AggGenOutput'),
  ...archiveRows(109, 'D', 'xml', 8, GENERATION, 'REE_ActualGenOutput'),
  ...archiveRows(111, 'QM', 'csv', 0, GENERATION, 'REE_WindSolarActual'),
  ...archiveRows(112, 'NA', 'csv', -180, GENERATION, 'PrevisionAnual'),
  ...archiveRows(147, 'M', 'pdf', -12, MARKET, 'Espec_Subasta_Mensual_EP Espec_Subasta_Mensual_PE'),
  ...archiveRows(149, 'T', 'pdf', -19, MARKET, 'Espec_Subasta_Trimestral_EP Espec_Subasta_Trimestral_PE'),
  ...archiveRows(151, 'A', 'pdf', -28, MARKET, 'Espec_Subasta_Anual_EP Espec_Subasta_Anual_PE'),
  ...archiveRows(159, 'M', 'xls', -4, MARKET, 'Resultado_Subasta_Mensual_POR'),
  ...archiveRows(160, 'A', 'xls', -14, MARKET, 'Resultado_Subasta_Anual_POR'),
  ...archiveRows(161, 'T', 'xls', -17, MARKET, 'Resultado_Subasta_Trimestral_POR'),
  ...archiveRows(181, 'QM', 'csv', 0, MARKET, 'REE_BalancingEnerBids'),
  ...archiveRows(187, 'M', 'zip', 9, SETTLEMENT, 'C2_PrecioFinal'),
]
/** Whether an archive has this id. */
export const isArchive = (id: string): boolean => ARCHIVES.some((archive) => String(archive.id) === id)
/** Archives that name the first and last day that they cover. */
const SPANNING = ['C2_liquicomun', 'COEF_KEST_MM']
/** Archives that are listed for future days. The auctions of the month are not, though they are published. */
const AHEAD = ['PlanesMantenimiento', 'PrevisionAnual', 'preciovoluntariopconsumidor', 'totalpdbf']
const JSON_IDS = [18, 20, 30, 32, 79, 80, 105, 106]
const ARCHIVE_VOCABULARIES = [20, 21, 22]
const MAX_LISTED_DAYS = 400

const SPAN: Readonly<Record<string, readonly [unit: Unit, count: number]>> = {
  M: ['month', 1],
  T: ['month', 3],
  A: ['year', 1],
}

/** The edition of an archive for a local day: its first and last day, and the day on which it is published. */
function editionFor({ horizon, lag }: Archive, day: Instant) {
  const [unit, count] = SPAN[horizon] ?? (['day', 1] as const)
  const start = floorTo(EMULATED_ZONE, day, unit)
  // A quarter begins with the last month whose number before it is a multiple of three.
  const first = count === 1 ? start : addUnits(EMULATED_ZONE, start, unit, -((dayFrom(start).month - 1) % count))
  const last = addUnits(EMULATED_ZONE, addUnits(EMULATED_ZONE, first, unit, count), 'day', -1)
  return { first, last, published: addUnits(EMULATED_ZONE, lag < 0 ? first : last, 'day', lag) }
}

function entry(archive: Archive, day: Instant, query: ParsedQuery): object {
  const { id, name, horizon, type, terms } = archive
  const { first, last, published } = editionFor(archive, day)
  const date = localDate(EMULATED_ZONE, day)
  const span = SPANNING.includes(name) ? [localDate(EMULATED_ZONE, first), localDate(EMULATED_ZONE, last)] : []
  const publication = localDate(EMULATED_ZONE, published)
  const hasTwoPublications = horizon === 'QM' || horizon === 'O'
  return {
    name,
    id,
    horizon,
    archive_type: type,
    // The second T is the service's own.
    download: {
      name,
      url: `/archives/${id}/download?date=${date}T23%3A59%3A59T%2B00%3A00&locale=${queryLocale(query)}`,
    },
    date: { date: `${date}T23:59:59.000+00:00` },
    date_times: horizon === 'H' ? [date] : span,
    publication_date: hasTwoPublications
      ? [publication, localDate(EMULATED_ZONE, dayFrom(published).to)]
      : [publication],
    ...taxonomy(terms, ARCHIVE_VOCABULARIES, queryLocale(query)),
  }
}

/** The local days of a range, with its end; default: today. */
function requestedDays(query: ParsedQuery, world: World): Instant[] {
  const start = (query.start_date ?? query.end_date ?? world.now) as Instant
  const end = (query.end_date ?? start) as Instant
  if (end - start > MAX_LISTED_DAYS * 86_400) throw new RequestTooLargeError()
  const days: Instant[] = []
  for (let day = dayAt(start); day.from <= end; day = dayFrom(day.to)) days.push(day.from)
  return days
}

/** The day that an archive's entry in a listing covers; undefined if it has none. */
function listedDay(archive: Archive, day: Instant, query: ParsedQuery, now: Instant): Instant | undefined {
  if (query.date_type !== 'publicacion') {
    const isPublished = editionFor(archive, day).published <= now
    return isPublished && (day <= now || AHEAD.includes(archive.name)) ? day : undefined
  }
  // An edition that is published on a day covers the day that the lag gives, if an edition begins or ends there.
  const covered = addUnits(EMULATED_ZONE, day, 'day', -archive.lag)
  return day <= now && editionFor(archive, covered).published === day ? covered : undefined
}

/** The body of `/archives`: the editions for the days of a range, or those published in it. */
export function archivesBody(query: ParsedQuery, world: World): object {
  const filtered = ARCHIVES.filter(({ terms }) => passes(terms, ARCHIVE_VOCABULARIES, query))
  const archives = requestedDays(query, world).flatMap((day) =>
    filtered.flatMap((archive) => {
      const covered = listedDay(archive, day, query, world.now)
      return covered === undefined ? [] : [entry(archive, covered, query)]
    }),
  )
  return { archives, meta: { size: archives.length } }
}

/** The body of `/archives_json`: what exists as JSON; nothing for future days. */
export function archivesJsonBody(query: ParsedQuery, world: World): object {
  const locale = queryLocale(query)
  const day = dayAt((query.date ?? query.start_date ?? query.end_date ?? world.now) as Instant).from
  const archives = ARCHIVES.filter(
    ({ id, terms }) => day <= world.now && JSON_IDS.includes(id) && passes(terms, ARCHIVE_VOCABULARIES, query),
  ).map(({ id, name, horizon, terms }) => ({
    id,
    name,
    description: locale === 'en' ? `Data of ${name} as JSON` : `Datos de ${name} en JSON`,
    horizon,
    archive_type: 'json',
    json_download: { name, type: 'json', url: `/archives/${id}/download_json?locale=${locale}` },
    ...taxonomy(terms, ARCHIVE_VOCABULARIES, locale),
  }))
  return { archives, meta: { size: archives.length } }
}
