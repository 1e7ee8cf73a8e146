import { quantity } from '../../base/quantity.ts'
import type { GapReason } from '../../tables/sql/gapReason.ts'
import type { Translated } from './locale.ts'

const GAPS_EN: Readonly<Record<Exclude<GapReason, 'never requested'>, string>> = {
  failed: 'because of failed requests',
  doubt: 'because the answer is not trusted',
  absent: 'because the source has no values',
}
const GAPS_ES: Readonly<Record<GapReason, string>> = {
  'never requested': 'sin solicitar todavía',
  failed: 'por peticiones fallidas',
  doubt: 'porque la respuesta no es fiable',
  absent: 'porque la fuente no tiene valores',
}

/** Words of the overview. */
export const en = {
  whole: (series: number) =>
    series === 0
      ? 'No series is held yet.'
      : `Complete and fresh: no request failed, no data is missing, and ${series === 1 ? 'the series reaches' : `all ${series} series reach`} as far as usual.`,
  needs: 'Needs attention',
  failedRun: (job: string) => `The last run of ${job} failed.`,
  unfinishedRun: (job: string) => `The last run of ${job} did not finish.`,
  gaps: (reason: GapReason, count: number) =>
    reason === 'never requested'
      ? `${quantity(count, 'range')} never requested.`
      : `${quantity(count, 'range')} missing ${GAPS_EN[reason]}.`,
  late: (count: number) => `${count} series ${count === 1 ? 'is' : 'are'} further behind than usual.`,
  failures: (count: number) =>
    `${count} ${count === 1 ? 'request' : 'requests'} failed and ${count === 1 ? 'was' : 'were'} not answered since.`,
  quarantined: (count: number) => `${count} ${count === 1 ? 'row' : 'rows'} could not be understood.`,
  missed: (job: string, since: string, usual: string) =>
    `The job ${job} has not run since ${since}; it usually runs every ${usual}.`,
  lakeName: 'Lake',
  lake: (ago: string, behind: number) =>
    `brought up to date ${ago}; ${behind === 0 ? 'nothing came since.' : `${behind} ${behind === 1 ? 'request' : 'requests'} brought something since.`}`,
  noLake: 'there is none yet.',
  nothing: 'Nothing is held yet. Run a job first:',
  seriesHeading: 'Series',
  caption: (days: number) => `How far every series reaches, and what is held of the last ${days} local days`,
  lastValue: 'Last value',
  behind: 'Age',
  usual: 'usually',
  strip: (days: number) => `Last ${days} days`,
  isLate: 'late',
  noValue: 'no value',
  geos: (count: number) => `${count} geos`,
  runsHeading: 'Last runs',
  run: 'Run',
  command: 'Command',
  job: 'Job',
  began: 'Began (UTC)',
  outcome: 'Outcome',
  requests: 'Requests',
  failed: 'Failed',
  fresh: 'New rows',
  revised: 'Revised',
  failuresHeading: 'Open failures',
  what: 'What was requested',
  why: 'What went wrong',
  todo: 'What to do',
  alone: 'The next sync requests it again.',
  after: (moment: string) => `The next sync after ${moment} UTC requests it again.`,
  more: (count: number) => `and ${count} more: indicator-sync status`,
  page: (page: number, pages: number) => `Page ${page} of ${pages}`,
}

export const es: Translated<typeof en> = {
  whole: (series) =>
    series === 0
      ? 'Todavía no hay ninguna serie.'
      : `Completo y al día: nada de lo pedido ha fallado, no falta nada, y ${series === 1 ? 'la serie llega' : `las ${series} series llegan`} hasta donde ${series === 1 ? 'suele' : 'suelen'}.`,
  needs: 'Algo necesita atención',
  failedRun: (job) => `La última ejecución de ${job} falló.`,
  unfinishedRun: (job) => `La última ejecución de ${job} no terminó.`,
  gaps: (reason, count) => `${count === 1 ? 'Falta 1 intervalo' : `Faltan ${count} intervalos`} ${GAPS_ES[reason]}.`,
  late: (count) => `${count} ${count === 1 ? 'serie va más atrasada' : 'series van más atrasadas'} de lo habitual.`,
  failures: (count) =>
    `${count} ${count === 1 ? 'petición falló y no tiene' : 'peticiones fallaron y no tienen'} respuesta desde entonces.`,
  quarantined: (count) => `${count} ${count === 1 ? 'fila no se entendió' : 'filas no se entendieron'}.`,
  missed: (job, since, usual) => `La tarea ${job} no se ejecuta desde ${since}; suele hacerlo cada ${usual}.`,
  lakeName: 'Lago de datos',
  lake: (ago, behind) =>
    `puesto al día ${ago}; ${behind === 0 ? 'desde entonces no ha llegado nada.' : `desde entonces ${behind} ${behind === 1 ? 'petición ha traído' : 'peticiones han traído'} algo.`}`,
  noLake: 'todavía no hay ninguno.',
  nothing: 'Todavía no hay nada. Ejecute antes una tarea:',
  seriesHeading: 'Series',
  caption: (days) => `Hasta dónde llega cada serie, y qué hay de los últimos ${days} días locales`,
  lastValue: 'Último valor',
  behind: 'Antigüedad',
  usual: 'lo normal',
  strip: (days) => `Últimos ${days} días`,
  isLate: 'con retraso',
  noValue: 'sin valores',
  geos: (count) => `${count} zonas`,
  runsHeading: 'Últimas ejecuciones',
  run: 'Ejecución',
  command: 'Orden',
  job: 'Tarea',
  began: 'Comienzo (UTC)',
  outcome: 'Resultado',
  requests: 'Peticiones',
  failed: 'Fallidas',
  fresh: 'Filas nuevas',
  revised: 'Revisadas',
  failuresHeading: 'Fallos pendientes',
  what: 'Qué se pidió',
  why: 'Qué falló',
  todo: 'Qué hacer',
  alone: 'La próxima sincronización lo pide otra vez.',
  after: (moment) => `La próxima sincronización después de ${moment} UTC lo pide otra vez.`,
  more: (count) => `y ${count} más: indicator-sync status`,
  page: (page, pages) => `Página ${page} de ${pages}`,
}
