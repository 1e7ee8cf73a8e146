import { t } from './locale.ts'

/** Words of the pages on coverage. */
export const coverage = {
  about: [
    'Coverage of every series by year. A cell leads to the days of its year.',
    'Cobertura de cada serie por año. Una celda lleva a los días de su año.',
  ],
  caption: ['Share of each year by state', 'Parte de cada año por estado'],
  year: ['Year', 'Año'],
  month: ['Month', 'Mes'],
  day: ['Day', 'Día'],
  yearsCaption: ['Years and months: share of each month by state', 'Años y meses: parte de cada mes por estado'],
  daysCaption: t(
    (year: number) => `The days of ${year}, in the local time of the source`,
    (year) => `Los días de ${year}, en la hora local de la fuente`,
  ),
  daysHint: ['Arrow keys move between days; Enter opens one.', 'Las flechas van de un día a otro; Intro abre uno.'],
  geoLabel: ['For', 'Para'],
  together: ['all geos together', 'todas las zonas juntas'],
  show: ['Show', 'Mostrar'],
  holes: t(
    (year: number) => `Missing data in ${year} and how to fix it`,
    (year) => `Datos ausentes en ${year} y cómo obtenerlos`,
  ),
  noHoles: ['No data is missing.', 'No falta ningún dato.'],
  from: ['From', 'Desde'],
  to: ['To', 'Hasta'],
  why: ['Why', 'Por qué'],
  count: ['Periods', 'Periodos'],
  mend: ['Fix', 'Solución'],
  reasons: {
    absent: ['The source answered without these values.', 'La fuente respondió sin estos valores.'],
    unverified: [
      'The answer had invalid rows, or lacked stored values.',
      'La respuesta tenía filas no válidas, o le faltaban valores guardados.',
    ],
    failed: ['The request failed.', 'La petición falló.'],
    'never requested': ['It was never requested.', 'Nadie lo ha pedido.'],
  },
  again: t(
    (moment: string) => `A sync requests it again from ${moment} on.`,
    (moment) => `Una sincronización lo pide otra vez a partir de ${moment}.`,
  ),
  never: ['No sync requests it by itself any more.', 'Ninguna sincronización lo pide ya por sí misma.'],
  more: t(
    (count: number) => `and ${count} more: indicator-sync gaps`,
    (count) => `y ${count} más: indicator-sync gaps`,
  ),
  none: ['Nothing of this series was requested yet.', 'Todavía no se ha pedido nada de esta serie.'],
  chart: ['View values', 'Ver valores'],
} as const
