import { t } from './locale.ts'

/** Words of the catalogue. */
export const indicators = {
  about: [
    'Every indicator of the service. Add a line to a job to fetch one.',
    'Todos los indicadores del servicio. Añada una línea a una tarea para obtener uno.',
  ],
  words: ['Words, or a number', 'Palabras, o un número'],
  which: ['Which', 'Cuáles'],
  held: {
    all: ['all', 'todos'],
    held: ['stored', 'guardados'],
    other: ['not stored', 'no guardados'],
  },
  find: ['Show', 'Mostrar'],
  none: ['No results.', 'Sin resultados.'],
  noneAtAll: ['The catalogue is not stored. Fetch it:', 'El catálogo no está guardado. Para obtenerlo:'],
  number: ['Number', 'Número'],
  name: ['Name', 'Nombre'],
  unit: ['Unit', 'Unidad'],
  what: ['Stored', 'Guardado'],
  not: ['not stored', 'no guardado'],
  days: t(
    (from: string, to: string, geos: number) => `${from} … ${to}, ${geos} ${geos === 1 ? 'geo' : 'geos'}`,
    (from, to, geos) => `${from} … ${to}, ${geos} ${geos === 1 ? 'zona' : 'zonas'}`,
  ),
  line: ['Add to a job', 'Añadir a una tarea'],
  withdrawn: ['no longer listed', 'ya no figura'],
  page: t(
    (page: number) => `page ${page}`,
    (page) => `página ${page}`,
  ),
} as const
