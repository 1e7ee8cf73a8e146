import type { GapReason } from '../../db/tables/codes.ts'
import { quantity } from '../../util/text.ts'
import { t } from './locale.ts'

const GAPS_EN: Readonly<Record<GapReason, string>> = {
  'never requested': 'not requested yet',
  failed: 'missing: the request failed',
  unverified: 'missing: the answer is unverified',
  absent: 'missing at the source',
}
const GAPS_ES: Readonly<Record<GapReason, string>> = {
  'never requested': 'sin pedir todavía',
  failed: 'ausentes: la petición falló',
  unverified: 'ausentes: la respuesta está sin verificar',
  absent: 'ausentes en la fuente',
}

/** Words of the overview. */
export const home = {
  whole: t(
    (series: number) =>
      series === 0
        ? 'No series is stored yet.'
        : `No request failed, no data is missing, and ${series === 1 ? 'the series reaches' : `all ${series} series reach`} as far as usual.`,
    (series) =>
      series === 0
        ? 'Todavía no hay ninguna serie.'
        : `Nada de lo pedido ha fallado, no falta nada, y ${series === 1 ? 'la serie llega' : `las ${series} series llegan`} hasta donde ${series === 1 ? 'suele' : 'suelen'}.`,
  ),
  needs: ['Needs attention', 'Requiere atención'],
  failedRun: t(
    (job: string) => `The last run of ${job} failed.`,
    (job) => `La última ejecución de ${job} falló.`,
  ),
  unfinishedRun: t(
    (job: string) => `The last run of ${job} did not finish.`,
    (job) => `La última ejecución de ${job} no terminó.`,
  ),
  upToDate: ['Up to date', 'Al día'],
  empty: ['No data yet', 'Todavía no hay datos'],
  gap: t(
    (reason: GapReason, length: string, days: string) => `${length} ${GAPS_EN[reason]}, ${days}`,
    (reason, length, days) => `${length} ${GAPS_ES[reason]}, ${days}`,
  ),
  moreGaps: t(
    (count: number) => `${count} more series with missing data.`,
    (count) => (count === 1 ? '1 serie más con datos ausentes.' : `${count} series más con datos ausentes.`),
  ),
  gapCount: t(
    (count: number) => quantity(count, 'gap'),
    (count) => (count === 1 ? '1 hueco' : `${count} huecos`),
  ),
  late: t(
    (count: number) => `${count} series ${count === 1 ? 'is' : 'are'} further behind than usual.`,
    (count) => `${count} ${count === 1 ? 'serie va más atrasada' : 'series van más atrasadas'} de lo habitual.`,
  ),
  failures: t(
    (count: number) =>
      `${count} ${count === 1 ? 'request' : 'requests'} failed and ${count === 1 ? 'was' : 'were'} not answered since.`,
    (count) =>
      `${count} ${count === 1 ? 'petición falló y no tiene' : 'peticiones fallaron y no tienen'} respuesta desde entonces.`,
  ),
  quarantined: t(
    (count: number) => `${quantity(count, 'row is', 'rows are')} invalid and quarantined.`,
    (count) => `${count} ${count === 1 ? 'fila no válida está' : 'filas no válidas están'} en cuarentena.`,
  ),
  missed: t(
    (job: string, since: string, usual: string) =>
      `The job ${job} has not run since ${since}; it usually runs every ${usual}.`,
    (job, since, usual) => `La tarea ${job} no se ejecuta desde ${since}; suele hacerlo cada ${usual}.`,
  ),
  lakeName: ['Lake', 'Lago de datos'],
  lake: t(
    (ago: string, behind: number) =>
      `updated ${ago}; ${behind === 0 ? 'up to date.' : `${quantity(behind, 'fetch', 'fetches')} behind.`}`,
    (ago, behind) =>
      `actualizado ${ago}; ${behind === 0 ? 'al día.' : `${behind} ${behind === 1 ? 'petición' : 'peticiones'} por incorporar.`}`,
  ),
  noLake: ['there is none yet.', 'todavía no hay ninguno.'],
  nothing: ['Run a job to fetch data:', 'Ejecute una tarea para obtener datos:'],
  seriesHeading: ['Series', 'Series'],
  caption: t(
    (days: number) => `How far every series reaches, and the data of the last ${days} local days`,
    (days) => `Hasta dónde llega cada serie, y qué hay de los últimos ${days} días locales`,
  ),
  lastValue: ['Value now', 'Valor actual'],
  valueAt: ['At', 'A las'],
  trend: ['Last 30 days', 'Últimos 30 días'],
  filter: ['Filter by name or number', 'Filtrar por nombre o número'],
  find: ['Filter', 'Filtrar'],
  noMatch: t(
    (text: string) => `No series matches “${text}”.`,
    (text) => `Ninguna serie coincide con «${text}».`,
  ),
  behind: ['Age', 'Antigüedad'],
  behindThen: ['Age when published', 'Antigüedad al publicar'],
  usual: ['usually', 'lo normal'],
  strip: t(
    (days: number) => `Coverage, ${days} days`,
    (days) => `Cobertura, ${days} días`,
  ),
  isLate: ['late', 'con retraso'],
  noValue: ['no value', 'sin valores'],
  geos: t(
    (count: number) => `${count} geos`,
    (count) => `${count} zonas`,
  ),
  runsHeading: ['Last runs', 'Últimas ejecuciones'],
  run: ['Run', 'Ejecución'],
  command: ['Command', 'Comando'],
  job: ['Job', 'Tarea'],
  began: ['Began', 'Comienzo'],
  outcome: ['Outcome', 'Resultado'],
  requests: ['Requests', 'Peticiones'],
  failed: ['Failed', 'Fallidas'],
  fresh: ['New rows', 'Filas nuevas'],
  revised: ['Revised', 'Revisadas'],
  todo: ['What to do', 'Qué hacer'],
  alone: ['The next sync requests it again.', 'La próxima sincronización lo pide otra vez.'],
  after: t(
    (moment: string) => `The next sync after ${moment} requests it again.`,
    (moment) => `La próxima sincronización después de ${moment} lo pide otra vez.`,
  ),
  page: t(
    (page: number, pages: number) => `Page ${page} of ${pages}`,
    (page, pages) => `Página ${page} de ${pages}`,
  ),
} as const
