import { quantity } from '../../util/text.ts'
import { type Pair, t } from './locale.ts'

/** Words that several pages need. */
export const common = {
  language: ['English', 'Español'],
  /** What every page is called. */
  pages: {
    home: ['Overview', 'Resumen'],
    coverage: ['Coverage', 'Cobertura'],
    coverageOf: ['Coverage of a series', 'Cobertura de una serie'],
    series: ['Series', 'Serie'],
    vintages: ['Versions', 'Versiones'],
    explain: ['Where a value comes from', 'De dónde viene un valor'],
    runs: ['Runs', 'Ejecuciones'],
    run: ['Run', 'Ejecución'],
    quarantine: ['Quarantine', 'Cuarentena'],
    search: ['Search', 'Buscar'],
    texts: ['Texts', 'Textos'],
    text: ['Text', 'Texto'],
    archives: ['Archives', 'Archivos'],
    archive: ['Archive', 'Archivo'],
    widgets: ['Widgets', 'Widgets'],
    widget: ['Widget', 'Widget'],
    indicators: ['Indicators', 'Indicadores'],
    sql: ['SQL', 'SQL'],
    dictionary: ['Tables and views', 'Tablas y vistas'],
  },
  skip: ['Skip to the content', 'Ir al contenido'],
  navigation: ['Pages', 'Páginas'],
  inThisLanguage: ['Page in English', 'Página en español'],
  machine: ['This page as JSON', 'Esta página en JSON'],
  database: ['Database', 'Base de datos'],
  find: ['Search series and texts', 'Buscar series y textos'],
  lastSync: ['Last sync', 'Última sincronización:'],
  clock: t(
    (zone: string) => `Times: ${zone}`,
    (zone) => `Horas: ${zone}`,
  ),
  made: t(
    (moment: string) => `Published ${moment}`,
    (moment) => `Publicado el ${moment}`,
  ),
  changed: [
    'The database has changed; the page is updated.',
    'La base de datos ha cambiado; la página se ha actualizado.',
  ],
  indicator: ['Indicator', 'Indicador'],
  offer: ['Offer indicator', 'Indicador de oferta'],
  series: ['Series', 'Serie'],
  geo: ['Geo', 'Zona'],
  allGeos: ['all geos', 'todas las zonas'],
  native: ['original resolution', 'resolución original'],
  /** Steps that the service groups by. */
  steps: {
    five_minutes: ['five minutes', 'cinco minutos'],
    ten_minutes: ['ten minutes', 'diez minutos'],
    fifteen_minutes: ['quarter-hour', 'cuarto de hora'],
    hour: ['hour', 'hora'],
    day: ['day', 'día'],
    month: ['month', 'mes'],
    year: ['year', 'año'],
  } as Readonly<Record<string, Pair>>,
  /** What may be the case for an interval of a series. */
  states: {
    final: ['final', 'definitivo'],
    provisional: ['provisional', 'provisional'],
    empty: ['empty at the source', 'vacío en la fuente'],
    unverified: ['missing or unverified', 'ausente o sin verificar'],
    failed: ['request failed', 'petición fallida'],
    none: ['never requested', 'nunca solicitado'],
  },
  mayChange: ['may still be revised', 'puede revisarse'],
  next: ['Next', 'Siguiente'],
  previous: ['Previous', 'Anterior'],
  copy: ['Copy', 'Copiar'],
  copied: ['Copied', 'Copiado'],
  number: t(
    (count: number) => count.toLocaleString('en'),
    (count) => count.toLocaleString('es'),
  ),
  total: t(
    (count: number) => quantity(count, 'row'),
    (count) => `${count.toLocaleString('es')} ${count === 1 ? 'fila' : 'filas'}`,
  ),
  ago: t(
    (length: string) => `${length} ago`,
    (length) => `hace ${length}`,
  ),
  ahead: t(
    (length: string) => `${length} ahead`,
    (length) => `dentro de ${length}`,
  ),
  minutes: t(
    (count: number) => `${count} min`,
    (count) => `${count} min`,
  ),
  hours: t(
    (count: number) => `${count} h`,
    (count) => `${count} h`,
  ),
  days: t(
    (count: number) => quantity(count, 'day'),
    (count) => `${count.toLocaleString('es')} ${count === 1 ? 'día' : 'días'}`,
  ),
  notFound: ['There is no such page', 'No existe esa página'],
  notFoundHint: [
    'The address is wrong, or the data is not in this database.',
    'La dirección es incorrecta o los datos no están en esta base de datos.',
  ],
  refused: ['This cannot be answered', 'No se puede responder a esto'],
  broken: ['Something went wrong in this program', 'Algo ha fallado en este programa'],
  brokenHint: ['See the terminal in which it was started.', 'Consulte la terminal en la que se inició.'],
} as const
