import type { Translated } from './locale.ts'

/** Words about the queues of workers. */
export const en = {
  heading: 'Queue',
  host: 'Service',
  waiting: 'Waiting',
  active: 'Under way',
  dead: 'Dead',
  deadHint: 'Dead requests failed too often: the next sync plans them again.',
}

export const es: Translated<typeof en> = {
  heading: 'Cola',
  host: 'Servicio',
  waiting: 'En espera',
  active: 'En curso',
  dead: 'Abandonadas',
  deadHint: 'Las peticiones abandonadas fallaron demasiadas veces: la próxima sincronización las planifica de nuevo.',
}
