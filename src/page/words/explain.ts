import { t } from './locale.ts'

/** Texts of the page on the origin of a value. */
export const explain = {
  title: t(
    (value: string, at: string) => `${value} at ${at}`,
    (value, at) => `${value}, ${at}`,
  ),
  now: ['now', 'ahora'],
  was: ['was', 'era'],
  withdrawn: ['The source does not give this value any more.', 'La fuente ya no da este valor.'],
  since: t(
    (moment: string) => `since ${moment}`,
    (moment) => `desde ${moment}`,
  ),
  until: t(
    (moment: string) => `until ${moment}`,
    (moment) => `hasta ${moment}`,
  ),
  value: ['Value', 'Valor'],
  step: ['Lasts', 'Dura'],
  brought: ['Fetched by', 'Obtenido por'],
  ended: ['Replaced by', 'Sustituido por'],
  run: t(
    (number: number, job: string, command: string) => `run ${number} (${command} ${job})`,
    (number, job, command) => `ejecución ${number} (${command} ${job})`,
  ),
  request: ['Request', 'Petición'],
  reason: ['Reason', 'Motivo'],
  entry: ['Place in the job', 'Lugar en la tarea'],
  answer: ['Answer', 'Respuesta'],
  status: t(
    (status: string, ms: string) => `${status}, ${ms} ms`,
    (status, ms) => `${status}, ${ms} ms`,
  ),
  place: ['Place in the stored answer', 'Lugar en la respuesta guardada'],
  places: {
    pruned: ['The answer is not kept any more.', 'La respuesta ya no se guarda.'],
    damaged: [
      'The stored answer is damaged and cannot be read.',
      'La respuesta guardada está dañada y no se puede leer.',
    ],
    'not-found': [
      'It does not stand in the answer as one value with this time.',
      'No figura en la respuesta como un valor con esta hora.',
    ],
    large: [
      'The answer is too large to be searched here.',
      'La respuesta es demasiado grande para buscar en ella aquí.',
    ],
  },
  confirmed: t(
    (moment: string) => `Last confirmed by the source: ${moment}.`,
    (moment) => `Confirmado por la fuente por última vez: ${moment}.`,
  ),
  previous: ['Value before', 'Valor anterior'],
  next: ['Value after', 'Valor siguiente'],
  back: ['Back to the chart', 'Volver al gráfico'],
  elsewhere: ['Get this data', 'Obtener estos datos'],
} as const
