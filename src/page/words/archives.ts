import { t } from './locale.ts'

/** Words of the pages on archives and widgets. */
export const archives = {
  about: [
    'Files that the operator publishes regularly, by day.',
    'Ficheros que el operador publica periódicamente, por día.',
  ],
  none: ['No editions are stored.', 'No hay ninguna edición.'],
  noneHint: ['A job fetches them:', 'Una tarea las trae:'],
  noneOfDay: t(
    (day: string) => `No editions for ${day}.`,
    (day) => `No hay ediciones del ${day}.`,
  ),
  day: ['Day', 'Día'],
  go: ['Show', 'Mostrar'],
  of: t(
    (day: string) => `Editions of ${day}`,
    (day) => `Ediciones del ${day}`,
  ),
  name: ['Archive', 'Archivo'],
  kind: ['Format', 'Formato'],
  horizon: ['Horizon', 'Horizonte'],
  aboutDays: ['Covers', 'Abarca'],
  publishedDays: ['Published', 'Publicado'],
  file: ['File', 'Fichero'],
  notHeld: ['not downloaded', 'sin descargar'],
  download: ['Download the files of this day:', 'Los ficheros de este día se descargan con:'],
  editions: ['Editions, the latest first', 'Ediciones, la última primero'],
  firstSeen: ['First seen', 'Visto por primera vez'],
  older: ['Older', 'Anteriores'],
  more: t(
    (count: number) => `The first ${count}; the archives themselves lead to the others.`,
    (count) => `Los primeros ${count}; los propios archivos llevan a los demás.`,
  ),
  widgetsAbout: ["Parts of the operator's own site.", 'Partes del sitio del operador.'],
  widget: ['Widget', 'Widget'],
  slug: ['Name in addresses', 'Nombre en direcciones'],
  type: ['Type', 'Tipo'],
  withdrawn: ['no longer listed since', 'ya no figura desde'],
  list: ['In the list', 'En la lista'],
  single: ['On its own', 'Por separado'],
  cut: t(
    (letters: number) => `The beginning of ${letters.toLocaleString('en')} letters.`,
    (letters) => `El comienzo de ${letters.toLocaleString('es')} caracteres.`,
  ),
  noWidgets: ['No widgets are stored.', 'No hay ningún widget.'],
} as const
