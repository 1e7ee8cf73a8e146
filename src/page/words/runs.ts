import type { RecordedOutcome } from '../../util/eventFields.ts'
import { type Pair, t } from './locale.ts'

/** Words of the pages on runs. */
export const runs = {
  about: ['All runs, newest first.', 'Todas las ejecuciones, la última primero.'],
  none: ['Nothing has run yet.', 'Todavía no se ha ejecutado nada.'],
  noneHint: ['The first run fills the database:', 'La primera ejecución llena la base de datos:'],
  number: ['Run', 'Ejecución'],
  id: ['No.', 'N.º'],
  what: ['What', 'Qué'],
  job: ['Job', 'Tarea'],
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
  gone: ['under way, or it ended without finishing its record', 'en curso, o terminó sin completar su registro'],
  requests: ['Requests', 'Peticiones'],
  failed: ['Failed', 'Fallidas'],
  bytes: ['Bytes', 'Bytes'],
  rows: ['Rows', 'Filas'],
  fresh: ['new', 'nuevas'],
  unchanged: ['unchanged', 'sin cambios'],
  revised: ['revised', 'revisadas'],
  withdrawn: ['withdrawn', 'retiradas'],
  rejected: ['rejected', 'rechazadas'],
  message: ['Message', 'Mensaje'],
  version: ['Version', 'Versión'],
  schedule: ['Schedule', 'Planificación'],
  older: ['Older', 'Anteriores'],
  newest: ['Newest', 'Últimas'],
  strip: t(
    (count: number, slowest: string) =>
      `How long the last ${count} runs took, the oldest first; the slowest took ${slowest}. The table below says the same.`,
    (count, slowest) =>
      `Cuánto duraron las últimas ${count} ejecuciones, la más antigua primero; la más lenta duró ${slowest}. La tabla dice lo mismo.`,
  ),
  routes: ['Requests by route', 'Peticiones por ruta'],
  route: ['Route', 'Ruta'],
  attempts: ['Sent', 'Envíos'],
  median: ['Median', 'Mediana'],
  slowest: ['Slowest', 'La más lenta'],
  when: ['When', 'Cuándo'],
  dots: t(
    (count: number, failed: number) =>
      `${count} requests over the run${failed === 0 ? '' : `, ${failed} of them failed, drawn higher`}`,
    (count, failed) =>
      `${count} peticiones a lo largo de la ejecución${failed === 0 ? '' : `, ${failed} de ellas fallidas, dibujadas más altas`}`,
  ),
  cut: t(
    (count: number) => `Of the last ${count.toLocaleString('en')} requests.`,
    (count) => `De las últimas ${count.toLocaleString('es')} peticiones.`,
  ),
  failures: ['Failed requests', 'Peticiones fallidas'],
  failuresHint: ['Retry them:', 'Para repetirlas:'],
  all: ['All requests, the latest first', 'Todas las peticiones, la última primero'],
  noRequests: ['No requests.', 'Sin peticiones.'],
  request: ['Request', 'Petición'],
  status: ['Status', 'Estado'],
  reason: ['Why', 'Por qué'],
  series: ['Series', 'Serie'],
  quarantine: [
    'What could not be understood is kept with its place:',
    'Lo que no se pudo entender se conserva con su lugar:',
  ],
  /** The page on what could not be understood. */
  rejects: {
    none: ['Quarantine is empty.', 'La cuarentena está vacía.'],
    about: [
      'Rows that this program could not read, newest first. The rest of the same answers is stored.',
      'Filas que este programa no pudo leer, las últimas primero. El resto de las mismas respuestas está guardado.',
    ],
    replay: ['A newer version may understand it:', 'Una versión más nueva quizá lo entienda:'],
    dismiss: [
      'What is wrong at the source can be closed with a reason:',
      'Lo que está mal en la fuente puede cerrarse con un motivo:',
    ],
    number: ['No.', 'N.º'],
    found: ['Found', 'Encontrado'],
    request: ['Request', 'Petición'],
    path: ['Where', 'Dónde'],
    reason: ['Why', 'Por qué'],
    fragment: ['What came', 'Qué llegó'],
  },
} as const
