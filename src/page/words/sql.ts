import { t } from './locale.ts'

/** Words of the box for SQL and of the data dictionary. */
export const sql = {
  about: [
    'Query the database with SQL, read only, at most three seconds. The address of the answer can be shared.',
    'Consulte la base de datos en SQL, solo lectura y tres segundos como máximo. La dirección de la respuesta se puede compartir.',
  ],
  statement: ['Statement', 'Sentencia'],
  run: ['Run', 'Ejecutar'],
  parameters: ['Parameters', 'Parámetros'],
  parameterHint: ['An empty field is NULL.', 'Un campo vacío es NULL.'],
  recipes: ['Recipes', 'Recetas'],
  recipesAbout: [
    'Questions that analysts ask. Each fills the box, and can be changed there.',
    'Preguntas que hacen los analistas. Cada una llena el cuadro, y allí se puede cambiar.',
  ],
  /** The questions of recipes in another language than that of the recipes themselves. */
  questions: [
    {} as Readonly<Record<string, string>>,
    {
      'daily-average': '¿Cuáles fueron la media, el mínimo y el máximo de cada día local?',
      'price-duration-curve': '¿En qué parte del tiempo fue el precio al menos tan alto?',
      'negative-price-hours': '¿Cuántas horas con precio cero o negativo tuvo cada mes?',
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
      'revisions-by-age': '¿Cuántas revisiones hay, por serie y por antigüedad del valor en días?',
      completeness:
        '¿Cómo de completa está una serie, mes a mes? Los cambios de hora cuentan: un marzo tiene 743 horas, un octubre 745.',
      'clock-change-days': '¿En qué días de una serie cambió la hora, de modo que tienen 23 o 25?',
      'missing-data': '¿Qué falta dentro de lo que se pidió, y por qué?',
      'data-range': '¿Hasta dónde llega cada serie, y cuándo se pidió por última vez?',
      search:
        '¿Dónde se habla de algo: en indicadores, contenidos o archivos? Los acentos no importan; las palabras del nombre cuentan más.',
      'latest-news': '¿Qué hay de nuevo?',
      'archives-published': '¿Qué archivos se publicaron un día, hoy si nadie dice otro, y de qué tratan?',
    },
  ] as const satisfies readonly unknown[] as readonly [
    Readonly<Record<string, string>>,
    Readonly<Record<string, string>>,
  ],
  dictionary: ['Tables and views', 'Tablas y vistas'],
  dictionaryAll: ['All of them, and what they mean', 'Todas, y qué significan'],
  dictionaryAbout: [
    'What every table, view and column means.',
    'Qué significa cada tabla, vista y columna, en inglés.',
  ],
  answer: ['Answer', 'Respuesta'],
  rows: t(
    (shown: number, all: number) =>
      shown < all
        ? `The first ${shown.toLocaleString('en')} of ${all.toLocaleString('en')} rows.`
        : `${all.toLocaleString('en')} ${all === 1 ? 'row' : 'rows'}.`,
    (shown, all) =>
      shown < all
        ? `Las primeras ${shown.toLocaleString('es')} de ${all.toLocaleString('es')} filas.`
        : `${all.toLocaleString('es')} ${all === 1 ? 'fila' : 'filas'}.`,
  ),
  cut: {
    rows: t(
      (count: number) => `The answer has more than ${count.toLocaleString('en')} rows; the others are not here.`,
      (count) => `La respuesta tiene más de ${count.toLocaleString('es')} filas; las demás no están aquí.`,
    ),
    bytes: [
      'The answer is too large for a page; this is its beginning.',
      'La respuesta es demasiado grande para una página; este es su comienzo.',
    ],
  },
  whole: ['All of it, in a terminal:', 'Entera, en una terminal:'],
  empty: ['No rows.', 'Ninguna fila.'],
  csv: ['As CSV', 'Como CSV'],
  long: t(
    (letters: number) => `${letters.toLocaleString('en')} letters`,
    (letters) => `${letters.toLocaleString('es')} caracteres`,
  ),
  chart: ['Chart', 'Gráfico'],
  chartOf: t(
    (names: string, from: string, to: string) => `${names}, from ${from} to ${to}. The table below has the values.`,
    (names, from, to) => `${names}, de ${from} a ${to}. La tabla de abajo tiene los valores.`,
  ),
  refused: ['Query failed', 'La consulta falló'],
  foreign: [
    'Another site links here. Read the statement, then run it.',
    'Otro sitio enlaza aquí. Lea la sentencia antes de ejecutarla.',
  ],
  column: ['Column', 'Columna'],
  type: ['Type', 'Tipo'],
  unit: ['Unit', 'Unidad'],
  meaning: ['Meaning', 'Significado'],
  tables: ['Tables', 'Tablas'],
  views: ['Views', 'Vistas'],
  ask: ['Ask for its rows', 'Pedir sus filas'],
  noValue: ['NULL', 'NULL'],
} as const
