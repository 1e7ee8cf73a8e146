import { t } from './locale.ts'

/** Words of the page on a series. */
export const series = {
  range: ['Range', 'Periodo'],
  spans: {
    day: ['Day', 'Día'],
    week: ['Week', 'Semana'],
    month: ['Month', 'Mes'],
    year: ['Year', 'Año'],
  },
  previous: ['Previous', 'Anterior'],
  next: ['Next', 'Siguiente'],
  from: ['From', 'Desde'],
  to: ['until (exclusive)', 'hasta (no incluido)'],
  geo: ['Geo', 'Zona'],
  with: ['Compare with', 'Comparar con'],
  withHint: ['number of an indicator, with :geo if another', 'número de un indicador, con :zona si es otra'],
  asOf: ['As known at', 'Datos conocidos a'],
  now: ['now', 'ahora'],
  problems: {
    'bad-time': [
      'This is not a valid time. Write a day, such as 2025-10-01, or a time with its offset.',
      'La fecha no es válida. Escriba un día, como 2025-10-01, o una hora con su desfase.',
    ],
    'bad-range': [
      'The range must end after it begins and last a century at most.',
      'El periodo debe acabar después de empezar y durar un siglo como máximo.',
    ],
    'not-found': [
      'There is no such series to compare with. Write the number of an indicator, such as 600.',
      'No existe esa serie para comparar. Escriba el número de un indicador, como 600.',
    ],
  },
  show: ['Show', 'Mostrar'],
  run: t(
    (number: number) => `run ${number}`,
    (number) => `ejecución ${number}`,
  ),
  known: t(
    (moment: string) => `known at ${moment}`,
    (moment) => `conocido el ${moment}`,
  ),
  values: ['current values', 'valores actuales'],
  valuesThen: t(
    (moment: string) => `as known at ${moment}`,
    (moment) => `como se conocía el ${moment}`,
  ),
  differ: t(
    (count: string) => `${count} values differ`,
    (count) => `${count} valores difieren`,
  ),
  bucket: t(
    (length: string) => `line: mean of each ${length}; band: smallest to largest`,
    (length) => `línea: media de cada ${length}; banda: de mínimo a máximo`,
  ),
  thenValue: t(
    (value: string) => `known then ${value}`,
    (value) => `se conocía ${value}`,
  ),
  chart: ['Chart', 'Gráfico'],
  label: t(
    (name: string, from: string, to: string) => `${name}, ${from} to ${to}. The table below says the same.`,
    (name, from, to) => `${name}, de ${from} a ${to}. La tabla de abajo dice lo mismo.`,
  ),
  nothing: ['No data in this range.', 'No hay datos de este periodo.'],
  low: ['smallest', 'mínimo'],
  high: ['largest', 'máximo'],
  mean: ['mean', 'media'],
  count: ['values', 'valores'],
  value: ['value', 'valor'],
  difference: ['difference', 'diferencia'],
  period: ['period begins', 'comienzo'],
  table: ['Table', 'Tabla'],
  levels: {
    values: ['Every value', 'Cada valor'],
    hour: ['By hour', 'Por hora'],
    day: ['By local day', 'Por día local'],
    month: ['By month', 'Por mes'],
    year: ['By year', 'Por año'],
  },
  open: ['Missing or provisional data', 'Datos ausentes o provisionales'],
  states: {
    final: ['final', 'definitivo'],
    provisional: ['provisional', 'provisional'],
    empty: ['empty at the source', 'vacío en la fuente'],
    unverified: ['unverified', 'sin verificar'],
    absent: ['missing at the source', 'ausente en la fuente'],
    failed: ['request failed', 'petición fallida'],
    unasked: ['never requested', 'nunca solicitado'],
  },
  missing: t(
    (count: string) => `${count} missing`,
    (count) => `faltan ${count}`,
  ),
  again: t(
    (moment: string) => `requested again from ${moment}`,
    (moment) => `se pide de nuevo desde ${moment}`,
  ),
  mend: ['Reasons and fixes', 'Motivos y soluciones'],
  more: t(
    (count: string) => `and ${count} more periods`,
    (count) => `y ${count} periodos más`,
  ),
  carpet: ['Heat map by hour', 'Mapa de calor por horas'],
  carpetHint: [
    'Arrow keys go from hour to hour. A day in which the clocks go back has an hour twice.',
    'Las flechas van de hora en hora. Un día en que se retrasa el reloj tiene una hora dos veces.',
  ],
  carpetMuch: ['Choose a year at most to see it hour by hour.', 'Elija un año como máximo para verlo hora a hora.'],
  noHour: ['the clocks skip this hour', 'el reloj se salta esta hora'],
  steps: t(
    (at: string, step: string) => `From ${at} on a value every ${step}.`,
    (at, step) => `Desde ${at}, un valor cada ${step}.`,
  ),
  same: ['Get this data', 'Obtener estos datos'],
  csv: ['CSV', 'CSV'],
  sql: ['SQL', 'SQL'],
  command: ['Command', 'Comando'],
  versions: ['How it was revised', 'Cómo se revisó'],
  explain: ['Where it comes from', 'De dónde viene'],
  keys: [
    'Keys: ← → move, + − zoom, Home shows all, E explains, [ ] go through what was known when.',
    'Teclas: ← → mueven, + − amplían, Inicio muestra todo, E explica, [ ] recorren lo que se conocía y cuándo.',
  ],
  change: t(
    (n: string) => `${n} values changed`,
    (n) => `${n} valores cambiaron`,
  ),
  loading: ['Reading …', 'Leyendo …'],
  failed: ['The server did not answer; is it still running?', 'El servidor no respondió; ¿sigue en marcha?'],
  held: t(
    (from: string, to: string) => `covers ${from} to ${to}`,
    (from, to) => `abarca de ${from} a ${to}`,
  ),
} as const
