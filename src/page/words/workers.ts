import type { Translated } from './locale.ts'

/** Words about workers. */
export const en = {
  heading: 'Workers',
  queue: 'Queue',
  nobody: 'No worker is there to take what waits: start one with `indicator-sync worker`.',
  worker: 'Machine and process',
  host: 'Service',
  since: 'Since',
  waiting: 'Waiting',
  inHand: 'In hand',
  done: 'Done',
  dead: 'Dead',
  deadHint: 'Dead is what failed too often: the next sync plans it again.',
  version: 'Version',
  state: 'State',
  silent: (time: string) => `silent for ${time}`,
  draining: 'takes no more',
}

export const es: Translated<typeof en> = {
  heading: 'Trabajadores',
  queue: 'Cola',
  nobody: 'No hay ningún trabajador que tome lo que espera: inicie uno con `indicator-sync worker`.',
  worker: 'Máquina y proceso',
  host: 'Servicio',
  since: 'Desde',
  waiting: 'En espera',
  inHand: 'En curso',
  done: 'Hechas',
  dead: 'Abandonadas',
  deadHint: 'Abandonado es lo que falló demasiadas veces: la próxima sincronización lo planifica de nuevo.',
  version: 'Versión',
  state: 'Estado',
  silent: (time: string) => `sin noticias desde hace ${time}`,
  draining: 'no toma más',
}
