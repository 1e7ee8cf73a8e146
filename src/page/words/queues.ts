/** Words about the queues of workers. */
export const queues = {
  heading: ['Queue', 'Cola'],
  host: ['Service', 'Servicio'],
  waiting: ['Waiting', 'En espera'],
  active: ['Under way', 'En curso'],
  dead: ['Dead', 'Abandonadas'],
  deadHint: [
    'Dead requests failed too often: the next sync plans them again.',
    'Las peticiones abandonadas fallaron demasiadas veces: la próxima sincronización las planifica de nuevo.',
  ],
} as const
