import { t } from './locale.ts'

/** Words of the page on the versions of a series. */
export const vintages = {
  intro: [
    'The values of this range as they were known at different times. The thick line is the newest.',
    'Los valores de este periodo tal como se conocían en distintos momentos. La línea gruesa es la más reciente.',
  ],
  range: t(
    (from: string, to: string) => `From ${from} to ${to}.`,
    (from, to) => `De ${from} a ${to}.`,
  ),
  fan: ['Versions over time', 'Versiones en el tiempo'],
  fanLabel: t(
    (count: string) => `${count} states of the past, drawn over each other. The table below names them.`,
    (count) => `${count} estados del pasado, superpuestos. La tabla de abajo los nombra.`,
  ),
  changes: ['Runs that changed something', 'Ejecuciones que cambiaron algo'],
  at: ['recorded', 'registrado'],
  run: ['run', 'ejecución'],
  job: ['job', 'tarea'],
  brought: ['values fetched', 'valores obtenidos'],
  replaced: ['replaced or withdrawn', 'sustituidos o retirados'],
  look: ['look', 'ver'],
  byAge: ['Revisions by age', 'Revisiones por antigüedad'],
  age: ['age of the value', 'antigüedad del valor'],
  count: ['revisions', 'revisiones'],
  withdrawn: ['withdrawn', 'retirados'],
  mean: ['mean change', 'cambio medio'],
  largest: ['largest change', 'mayor cambio'],
  heat: ['When which day was revised', 'Cuándo se revisó cada día'],
  heatLabel: [
    'Days from left to right, age of the values from top to bottom; darker where more was revised. The table says how much in all.',
    'Los días de izquierda a derecha, la antigüedad de los valores de arriba abajo; más oscuro donde más se revisó. La tabla dice cuánto en total.',
  ],
  none: ['No revisions in this range.', 'Sin revisiones en este periodo.'],
  back: ['Back to the chart', 'Volver al gráfico'],
  before: ['before it began', 'antes de empezar'],
  day: ['the day itself', 'el mismo día'],
  days: t(
    (from: number, to: number) => (to === from + 1 ? `day ${to}` : `days ${from + 1} to ${to}`),
    (from, to) => (to === from + 1 ? `día ${to}` : `días ${from + 1} a ${to}`),
  ),
  later: t(
    (from: number) => `after day ${from}`,
    (from) => `después del día ${from}`,
  ),
} as const
