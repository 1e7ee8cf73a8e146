import type { Reason } from '../../db/tables/bookkeeping.ts'
import type { FetchOutcome } from '../../db/tables/codes.ts'
import type { RecordedOutcome } from '../../util/eventFields.ts'
import type { PageLocale, Pair } from './locale.ts'

/** Words of the pages on runs and on quarantine. */
export const runs = {
  about: ['All runs, newest first.', 'Todas las ejecuciones, la última primero.'],
  none: ['Nothing has run yet.', 'Todavía no se ha ejecutado nada.'],
  noneHint: ['The first run fills the database:', 'La primera ejecución llena la base de datos:'],
  what: ['Command', 'Comando'],
  started: ['Started', 'Empezó'],
  ended: ['Ended', 'Terminó'],
  length: ['Took', 'Duró'],
  outcome: ['Outcome', 'Resultado'],
  outcomes: {
    running: ['running', 'en curso'],
    done: ['done', 'completa'],
    partial: ['partial', 'parcial'],
    stopped: ['stopped', 'detenida'],
    failed: ['failed', 'fallida'],
  } satisfies Record<RecordedOutcome, Pair>,
  /** What became of a request. */
  results: {
    ok: ['received', 'recibida'],
    empty: ['no data', 'sin datos'],
    coarse: ['split: several resolutions', 'dividida: varias resoluciones'],
    'too-large': ['split: too large', 'dividida: demasiado grande'],
    stopped: ['not sent in time', 'no dio tiempo a enviarla'],
    refused: ['rejected by the service', 'rechazada por el servicio'],
    transient: ['service unavailable', 'servicio no disponible'],
    shape: ['unexpected response', 'respuesta inesperada'],
    key: ['API key rejected', 'clave de API rechazada'],
    failed: ['failed', 'fallida'],
  } satisfies Record<FetchOutcome, Pair>,
  /** Why a request was sent. */
  reasons: {
    missing: ['not stored yet', 'todavía sin guardar'],
    refresh: ['may have changed', 'puede haber cambiado'],
    unverified: ['was unverified', 'estaba sin verificar'],
    absent: ['was missing at the source', 'faltaba en la fuente'],
    restate: ['requested again by a command', 'repetida por un comando'],
    retry: ['retry after a failure', 'repetida tras un fallo'],
  } satisfies Record<Reason, Pair>,
  /** What requests of each route are for. */
  targets: {
    indicators: ['Catalogue', 'Catálogo'],
    indicator: ['Indicator', 'Indicador'],
    offer_indicator: ['Offer indicator', 'Indicador de oferta'],
    documentations: ['Documentation', 'Documentación'],
    static_pages: ['Pages', 'Páginas'],
    glossaries: ['Glossary', 'Glosario'],
    news: ['News', 'Noticias'],
    archives: ['Archives', 'Archivos'],
    archives_json: ['JSON archives', 'Archivos JSON'],
    widgets: ['Widgets', 'Widgets'],
    widget: ['Widget', 'Widget'],
  } as Readonly<Record<string, Pair>>,
  gone: ['under way, or it ended without finishing its record', 'en curso, o terminó sin completar su registro'],
  requests: ['Requests', 'Peticiones'],
  running: ['running: {0|request|requests}', 'en curso: {0|petición|peticiones}'],
  runningOf: ['running: {0} of about {1}', 'en curso: {0} de unas {1}'],
  progress: ['{0} of about {1} requests', '{0} de unas {1} peticiones'],
  left: ['about {0} left', 'quedan unos {0}'],
  failed: ['Failed', 'Fallidas'],
  bytes: ['Bytes', 'Bytes'],
  rows: ['Rows', 'Filas'],
  fresh: ['New rows', 'Filas nuevas'],
  unchanged: ['unchanged', 'sin cambios'],
  revised: ['Revised', 'Revisadas'],
  withdrawn: ['withdrawn', 'retiradas'],
  rejected: ['rejected', 'rechazadas'],
  message: ['Message', 'Mensaje'],
  version: ['Version', 'Versión'],
  schedule: ['Schedule', 'Planificación'],
  strip: [
    'How long the last {0|run|runs} took, the oldest first; the slowest took {1}. The table below says the same.',
    'Cuánto duraron las últimas {0|ejecución|ejecuciones}, la más antigua primero; la más lenta duró {1}. La tabla dice lo mismo.',
  ],
  routes: ['Requests by kind of data', 'Peticiones por tipo de datos'],
  route: ['Data', 'Datos'],
  attempts: ['Sent', 'Envíos'],
  median: ['Median', 'Mediana'],
  slowest: ['Slowest', 'La más lenta'],
  when: ['When', 'Cuándo'],
  dots: ['{0|request|requests} over the run', '{0|petición|peticiones} a lo largo de la ejecución'],
  dotsFailed: [
    '{0|request|requests} over the run, {1} of them failed, drawn higher',
    '{0|petición|peticiones} a lo largo de la ejecución, {1} de ellas fallidas, dibujadas más altas',
  ],
  cut: ['Of the last {0} requests.', 'De las últimas {0} peticiones.'],
  failures: ['Failed requests', 'Peticiones fallidas'],
  failuresHint: ['Retry them:', 'Para repetirlas:'],
  all: ['All requests, the latest first', 'Todas las peticiones, la última primero'],
  noRequests: ['No requests.', 'Sin peticiones.'],
  quarantine: ['Rows that could not be read are kept:', 'Las filas que no se pudieron leer se conservan:'],
  /** The page on what could not be understood. */
  rejects: {
    none: ['Quarantine is empty.', 'La cuarentena está vacía.'],
    about: [
      'Rows that this program could not read, newest first. The rest of the same responses is stored.',
      'Filas que este programa no pudo leer, las últimas primero. El resto de las mismas respuestas está guardado.',
    ],
    replay: ['A newer version may understand it:', 'Una versión más nueva quizá lo entienda:'],
    dismiss: ['Close errors of the source with a reason:', 'Cierre los errores de la fuente con un motivo:'],
    found: ['Found', 'Encontrado'],
    path: ['Where', 'Dónde'],
    fragment: ['What came', 'Qué llegó'],
  },
} as const

/** Words about the queues of workers. */
export const queues = {
  heading: ['Queue', 'Cola'],
  host: ['Service', 'Servicio'],
  waiting: ['Waiting', 'En espera'],
  active: ['In progress', 'En curso'],
  dead: ['Given up', 'Abandonadas'],
  deadHint: ['The next sync plans dead requests again.', 'La próxima sincronización repite las abandonadas.'],
} as const

/** Words of the box for SQL and of the data dictionary. */
export const sql = {
  about: [
    'Query the database with SQL, read only, at most three seconds. The URL of the result can be shared.',
    'Consulte la base de datos en SQL, solo lectura y tres segundos como máximo. La dirección de la respuesta se puede compartir.',
  ],
  statement: ['Statement', 'Sentencia'],
  run: ['Run', 'Ejecutar'],
  parameters: ['Parameters', 'Parámetros'],
  parameterHint: ['An empty field is NULL.', 'Un campo vacío es NULL.'],
  recipes: ['Recipes', 'Recetas'],
  recipesAbout: ['Questions of analysts, to run or change.', 'Preguntas de analistas, para ejecutar o cambiar.'],
  dictionaryAll: ['All of them, and what they mean', 'Todas, y qué significan'],
  dictionaryAbout: ['The meaning of tables, views and columns.', 'El significado de tablas, vistas y columnas.'],
  answer: ['Answer', 'Respuesta'],
  rows: ['{0|row|rows}.', '{0|fila|filas}.'],
  firstRows: ['The first {0} of {1} rows.', 'Las primeras {0} de {1} filas.'],
  cutRows: ['Only {0} rows are shown.', 'Solo se muestran {0} filas.'],
  cutBytes: ['The result is too large; this is its start.', 'La respuesta es demasiado larga; este es su inicio.'],
  whole: ['All of it, in a terminal:', 'Entera, en una terminal:'],
  empty: ['No rows.', 'Ninguna fila.'],
  csv: ['As CSV', 'Como CSV'],
  long: ['{0} letters', '{0} caracteres'],
  chartOf: ['{0}, from {1} to {2}. The table has the values.', '{0}, de {1} a {2}. La tabla tiene los valores.'],
  refused: ['Query failed', 'La consulta falló'],
  foreign: ['Another site links here. Read it, then run it.', 'Otro sitio enlaza aquí. Léala antes de ejecutarla.'],
  column: ['Column', 'Columna'],
  meaning: ['Meaning', 'Significado'],
  tables: ['Tables', 'Tablas'],
  views: ['Views', 'Vistas'],
  ask: ['Ask for its rows', 'Pedir sus filas'],
  noValue: ['NULL', 'NULL'],
} as const

/** The questions of recipes in other languages than that of the recipes themselves. */
export const RECIPE_QUESTIONS: Readonly<Partial<Record<PageLocale, Readonly<Record<string, string>>>>> = {
  es: {
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
}
