import type { Instant } from '../base/instant.ts'
import { addUnits, floorTo, localDate, type Unit } from '../base/zone.ts'
import { passes, taxonomy } from './contents.ts'
import type { Query } from './query.ts'
import { type World, ZONE } from './world.ts'

const DAY = 86_400

/** One archive: how long a time an edition is about, and how many days after its end it is published. */
type Archive = readonly [name: string, horizon: string, type: string, days: number, terms: readonly number[]]

const PROGRAMMES = [
  'totalpdbf',
  'totalrpdvpprec',
  'totalpdvp',
  'totalasigsec',
  'totalenersec',
  'totalliquicierre',
  'p48cierre',
] as const
const RESTRICTIONS = [
  'totalp48',
  'totalrp48prec',
  'totalp48cierre',
  'totalrp48preccierre',
  'pvpcdesglosehorario',
  'pvpcprecios',
] as const
const AUCTIONS = ['FE', 'EF', 'EP', 'PE', 'FRA', 'POR'] as const

const ARCHIVES: readonly Archive[] = [
  ...PROGRAMMES.map((name): Archive => [name, 'D', 'xml', 0, [155, 165, 172]]),
  ...RESTRICTIONS.map((name): Archive => [name, 'H', 'xml', 1, [156, 165]]),
  ...AUCTIONS.flatMap((border): Archive[] => [
    [`Espec_Subasta_Mensual_${border}`, 'M', 'pdf', -10, [156, 165]],
    [`Resultado_Subasta_Trimestral_${border}`, 'T', 'xls', -14, [156, 165]],
    [`Resultado_Subasta_Anual_${border}`, 'A', 'xls', -20, [156, 165]],
  ]),
  ['I90DIA', 'D', 'zip', 90, [155, 165, 168]],
  ['I3DIA', 'D', 'zip', 4, [155, 165, 168]],
  ['C2_liquicomun', 'M', 'zip', 9, [156, 165, 170]],
  ['C2_PrecioFinal', 'M', 'zip', 9, [155, 156, 165]],
  ['perfilconsumo', 'S', 'xml', -3, [156, 165]],
  ['REE_AggGenOutput', 'QM', 'xml', 1, [155, 165]],
  ['REE_ActualGenOutput', 'QM', 'csv', 8, [155, 165]],
  ['Indisponibilidades', 'O', 'xls', 1, [155, 165]],
  ['Descargos_FRA_Planificados', 'O', 'xml', -20, [155, 165]],
  ['PlanesMantenimiento', 'NA', 'xls', 0, [155, 165]],
  ['PrevisionAnual', 'A', 'pdf', -40, [155, 165]],
]

/** The stretch that an edition is about, by its horizon. */
const SPAN: Readonly<Record<string, Unit>> = { M: 'month', T: 'month', A: 'year' }

/** The edition of an archive for a local day: first and last day, and when it is published. */
function editionFor([, horizon, , days]: Archive, day: Instant): { first: Instant; last: Instant; published: Instant } {
  const unit = SPAN[horizon] ?? 'day'
  const first = floorTo(ZONE, day, unit)
  const end = addUnits(ZONE, first, unit, 1)
  return { first, last: end - 1, published: days < 0 ? first + days * DAY : end + days * DAY }
}

const vocabularies = [20, 21, 22]
const language = (query: Query): 'es' | 'en' => (query.locale === 'en' ? 'en' : 'es')
const tooFar = (archive: Archive, published: Instant, now: Instant): boolean => published > now || archive[3] > 0

function entry(archive: Archive, id: number, day: Instant, query: Query): object {
  const [name, horizon, type, , terms] = archive
  const { first, last, published } = editionFor(archive, day)
  const date = localDate(ZONE, day)
  const long = localDate(ZONE, first) !== localDate(ZONE, last)
  const dates = long ? [localDate(ZONE, first), localDate(ZONE, last)] : horizon === 'H' ? [date] : []
  const published1 = localDate(ZONE, published)
  return {
    name,
    id,
    horizon,
    archive_type: type,
    // The second T is the service's own.
    download: { name, url: `/archives/${id}/download?date=${date}T23%3A59%3A59T%2B00%3A00&locale=${language(query)}` },
    date: { date: `${date}T23:59:59.000+00:00` },
    date_times: dates,
    publication_date: horizon === 'QM' ? [date, published1] : [published1],
    ...taxonomy(terms, vocabularies, language(query)),
  }
}

/** Local days of a range; the day of the clock when none is asked for. */
function daysOf(query: Query, world: World): Instant[] {
  const from = floorTo(
    ZONE,
    (query.start_date as Instant | undefined) ?? (query.end_date as Instant | undefined) ?? world.now,
    'day',
  )
  const to = (query.end_date as Instant | undefined) ?? (query.start_date as Instant | undefined) ?? world.now
  const days: Instant[] = []
  for (let day = from; day <= to && days.length < 400; day = addUnits(ZONE, day, 'day', 1)) days.push(day)
  return days
}

/** The answer of `/archives`: the editions about a range of days, or published in it. */
export function archivesAnswer(query: Query, world: World): object {
  const days = daysOf(query, world)
  const archives = days.flatMap((day) =>
    ARCHIVES.flatMap((archive, i) => {
      if (!passes(archive[4], vocabularies, query)) return []
      const { published } = editionFor(archive, day)
      if (
        query.date_type === 'publicacion'
          ? floorTo(ZONE, published, 'day') > world.now
          : day > world.now && tooFar(archive, published, world.now)
      )
        return []
      return [entry(archive, i + 8, day, query)]
    }),
  )
  return { archives, meta: { size: archives.length } }
}

/** The answer of `/archives_json`: what exists as JSON. */
export function archivesJsonAnswer(query: Query): object {
  const archives = ARCHIVES.flatMap((archive, i) => {
    const [name, horizon, , , terms] = archive
    if (horizon !== 'D' || !passes(terms, vocabularies, query)) return []
    const id = i + 8
    const text = { es: `Datos de ${name} en JSON`, en: `Data of ${name} as JSON` }
    return [
      {
        id,
        name,
        description: text[language(query)],
        horizon,
        archive_type: 'json',
        json_download: { name, type: 'json', url: `/archives/${id}/download_json?locale=${language(query)}` },
        ...taxonomy(terms, vocabularies, language(query)),
      },
    ]
  })
  return { archives, meta: { size: archives.length } }
}
