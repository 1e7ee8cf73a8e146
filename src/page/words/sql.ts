import type { Translated } from './locale.ts'

/** Words of the box for SQL and of the data dictionary. */
export const en = {
  about:
    'Ask the database in SQL. A statement only reads, and is ended after three seconds; the address of its answer can be kept and sent.',
  statement: 'Statement',
  run: 'Run',
  parameters: 'Parameters',
  parameterHint: 'What is left empty is no value.',
  recipes: 'Recipes',
  recipesAbout: 'Questions that analysts ask. Each fills the box, and can be changed there.',
  dictionary: 'Tables and views',
  dictionaryAll: 'All of them, and what they mean',
  dictionaryAbout: 'What every table, view and column means.',
  answer: 'Answer',
  rows: (shown: number, all: number) =>
    shown < all
      ? `The first ${shown.toLocaleString('en')} of ${all.toLocaleString('en')} rows.`
      : `${all.toLocaleString('en')} ${all === 1 ? 'row' : 'rows'}.`,
  cut: {
    rows: (count: number) => `The answer has more than ${count.toLocaleString('en')} rows; the others are not here.`,
    bytes: 'The answer is too large for a page; this is its beginning.',
  },
  whole: 'All of it, in a terminal:',
  empty: 'No rows.',
  csv: 'As CSV',
  long: (letters: number) => `${letters.toLocaleString('en')} letters`,
  chart: 'Chart',
  chartOf: (names: string, from: string, to: string) =>
    `${names}, from ${from} to ${to}. The table below has the values.`,
  refused: 'It was not answered',
  column: 'Column',
  type: 'Type',
  unit: 'Unit',
  meaning: 'Meaning',
  tables: 'Tables',
  views: 'Views',
  ask: 'Ask for its rows',
  noValue: 'NULL',
}

export const es: Translated<typeof en> = {
  about:
    'Pregunte a la base de datos en SQL. Una sentencia solo lee, y se termina a los tres segundos; la dirección de su respuesta se puede guardar y enviar.',
  statement: 'Sentencia',
  run: 'Ejecutar',
  parameters: 'Parámetros',
  parameterHint: 'Lo que se deja vacío no tiene valor.',
  recipes: 'Recetas',
  recipesAbout: 'Preguntas que hacen los analistas, en inglés. Cada una llena el cuadro, y allí se puede cambiar.',
  dictionary: 'Tablas y vistas',
  dictionaryAll: 'Todas, y qué significan',
  dictionaryAbout: 'Qué significa cada tabla, vista y columna, en inglés.',
  answer: 'Respuesta',
  rows: (shown, all) =>
    shown < all
      ? `Las primeras ${shown.toLocaleString('es')} de ${all.toLocaleString('es')} filas.`
      : `${all.toLocaleString('es')} ${all === 1 ? 'fila' : 'filas'}.`,
  cut: {
    rows: (count) => `La respuesta tiene más de ${count.toLocaleString('es')} filas; las demás no están aquí.`,
    bytes: 'La respuesta es demasiado grande para una página; este es su comienzo.',
  },
  whole: 'Entera, en una terminal:',
  empty: 'Ninguna fila.',
  csv: 'Como CSV',
  long: (letters) => `${letters.toLocaleString('es')} letras`,
  chart: 'Gráfico',
  chartOf: (names, from, to) => `${names}, de ${from} a ${to}. La tabla de abajo tiene los valores.`,
  refused: 'No se ha respondido',
  column: 'Columna',
  type: 'Tipo',
  unit: 'Unidad',
  meaning: 'Significado',
  tables: 'Tablas',
  views: 'Vistas',
  ask: 'Pedir sus filas',
  noValue: 'NULL',
}
