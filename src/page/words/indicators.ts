import type { Translated } from './locale.ts'

/** Words of the catalogue. */
export const en = {
  about: 'Every indicator of the service, held or not. What is not held is fetched by a line in a job file.',
  words: 'Words, or a number',
  which: 'Which',
  held: { all: 'all', held: 'held', other: 'not held' },
  find: 'Show',
  none: 'None is like that.',
  noneAtAll: 'The catalogue is not held. It is fetched by:',
  number: 'Number',
  name: 'Name',
  unit: 'Unit',
  what: 'Held',
  not: 'not held',
  days: (from: string, to: string, geos: number) => `${from} … ${to}, ${geos} ${geos === 1 ? 'geo' : 'geos'}`,
  line: 'The line of a job',
  withdrawn: 'no longer listed',
  page: (page: number) => `page ${page}`,
}

export const es: Translated<typeof en> = {
  about:
    'Todos los indicadores del servicio, conservados o no. Lo que no se conserva se trae con una línea en una tarea.',
  words: 'Palabras, o un número',
  which: 'Cuáles',
  held: { all: 'todos', held: 'conservados', other: 'no conservados' },
  find: 'Mostrar',
  none: 'No hay ninguno así.',
  noneAtAll: 'El catálogo no se conserva. Se trae con:',
  number: 'Número',
  name: 'Nombre',
  unit: 'Unidad',
  what: 'Conservado',
  not: 'no se conserva',
  days: (from, to, geos) => `${from} … ${to}, ${geos} ${geos === 1 ? 'zona' : 'zonas'}`,
  line: 'La línea de una tarea',
  withdrawn: 'ya no figura',
  page: (page) => `página ${page}`,
}
