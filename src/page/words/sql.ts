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
  /** The questions of recipes in another language than that of the recipes themselves. */
  questions: {} as Readonly<Record<string, string>>,
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
  refused: 'Query failed',
  foreign: 'Another site links here. Read the statement, then run it.',
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
  recipesAbout: 'Preguntas que hacen los analistas. Cada una llena el cuadro, y allí se puede cambiar.',
  questions: {
    'daily-average': '¿Cuáles fueron la media, el mínimo y el máximo de cada día local?',
    'price-duration-curve': '¿En qué parte del tiempo fue el precio al menos tan alto?',
    'negative-price-hours': '¿Cuántas horas de cada mes fueron gratis, o pagaron por consumir?',
    'capture-price': '¿Cuánto cobró una tecnología por megavatio hora, y qué parte del precio medio es eso?',
    'session-spread': '¿Cuánto distaron dos sesiones del mercado, día a día?',
    'daily-profile': '¿Cómo es un día corriente, hora a hora del reloj local, entre semana y en fin de semana?',
    'battery-spread':
      '¿Cuánto podría ganar una batería que se carga en las horas más baratas de un día y vende en las más caras?',
    'monthly-energy':
      '¿Cuánta energía entregó cada tecnología en cada mes local? Las potencias pesan lo que duran, así que un cambio de resolución no cambia nada.',
    'monthly-traded-energy':
      '¿Cuánta energía se negoció en cada mes, donde los valores son energías por periodo y el periodo se acortó por el camino?',
    'forecast-error': '¿Cuánto distó la previsión de la demanda de la real, día a día?',
    'residual-load':
      '¿Qué queda de la demanda sin el viento y el sol: de media, como mínimo y como máximo, hora a hora del reloj local?',
    'renewable-share':
      '¿Qué parte de la demanda cubrieron unas tecnologías, día a día? Solo cuentan las horas de las que se tienen todas enteras.',
    'known-at':
      '¿Qué se sabía de una serie en un instante, el comienzo de hoy si nadie dice otro, frente a lo que se sabe ahora?',
    'revisions-by-age': '¿Cuántas veces se revisan los valores, por serie y por los días pasados desde entonces?',
    completeness:
      '¿Cómo de completa está una serie, mes a mes? Los cambios de hora cuentan: un marzo tiene 743 horas, un octubre 745.',
    'clock-change-days': '¿En qué días de una serie cambió la hora, de modo que tienen 23 o 25?',
    holes: '¿Qué falta dentro de lo que se pidió, y por qué?',
    reach: '¿Hasta dónde llega cada serie, y cuándo se pidió por última vez?',
    search:
      '¿Dónde se habla de algo: en indicadores, contenidos o archivos? Los acentos no importan; las palabras del nombre cuentan más.',
    'latest-news': '¿Qué hay de nuevo?',
    'archives-published': '¿Qué archivos se publicaron un día, hoy si nadie dice otro, y de qué tratan?',
  },
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
  long: (letters) => `${letters.toLocaleString('es')} caracteres`,
  chart: 'Gráfico',
  chartOf: (names, from, to) => `${names}, de ${from} a ${to}. La tabla de abajo tiene los valores.`,
  refused: 'La consulta falló',
  foreign: 'Otro sitio enlaza aquí. Lea la sentencia antes de ejecutarla.',
  column: 'Columna',
  type: 'Tipo',
  unit: 'Unidad',
  meaning: 'Significado',
  tables: 'Tablas',
  views: 'Vistas',
  ask: 'Pedir sus filas',
  noValue: 'NULL',
}
