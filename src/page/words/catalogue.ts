import type { Pair } from './locale.ts'

/** Words of the catalogue. */
export const indicators = {
  about: ['All indicators. A line in a job fetches one.', 'Todos los indicadores. Una línea en una tarea obtiene uno.'],
  which: ['Which', 'Cuáles'],
  held: {
    all: ['all', 'todos'],
    held: ['stored', 'guardados'],
    other: ['not stored', 'no guardados'],
  },
  none: ['No results.', 'Sin resultados.'],
  noneAtAll: ['The catalogue is not stored. Fetch it:', 'El catálogo no está guardado. Para obtenerlo:'],
  what: ['Stored', 'Guardado'],
  not: ['not stored', 'no guardado'],
  days: ['{0} … {1}, {2|geo|geos}', '{0} … {1}, {2|zona|zonas}'],
  line: ['Add to a job', 'Añadir a una tarea'],
  withdrawn: ['no longer listed', 'ya no figura'],
} as const

/** Words of the search. */
export const search = {
  about: [
    'Search the catalogue, texts and archives. Accents do not matter; a word also finds longer words that begin with it.',
    'Busque en el catálogo, los textos y los archivos. Los acentos no importan; una palabra encuentra también las que empiezan por ella.',
  ],
  where: ['Where', 'Dónde'],
  places: {
    all: ['everywhere', 'en todo'],
    catalogue: ['in the catalogue', 'en el catálogo'],
    content: ['in texts', 'en textos'],
    archives: ['in archives', 'en archivos'],
  },
  find: ['Find', 'Buscar'],
  none: ['No results for “{0}”. Try fewer words.', 'Sin resultados para «{0}». Pruebe con menos palabras.'],
  found: ['{0} found.', '{0|encontrado|encontrados}.'],
  first: ['The first {0} of {1}; more words find fewer.', 'Los primeros {0} de {1}; más palabras encuentran menos.'],
  firstOfMore: ['The first {0} of {1} or more; add words.', 'Los primeros {0} de {1} o más; añada palabras.'],
} as const

/** Words of the pages on texts. */
export const texts = {
  about: ['Texts of the operator with all fetched versions.', 'Textos del operador con todas sus versiones.'],
  kinds: {
    news: ['News', 'Noticias'],
    glossary: ['Glossary', 'Glosario'],
    documentation: ['Documentation', 'Documentación'],
    static_page: ['Pages', 'Páginas'],
    indicator: ['Indicator', 'Indicador'],
    offer_indicator: ['Offer indicator', 'Indicador de oferta'],
    archive: ['Archive', 'Archivo'],
    archive_json: ['JSON archive', 'Archivo JSON'],
  } as Readonly<Record<string, Pair>>,
  which: ['Kinds of texts', 'Tipos de textos'],
  none: ['None are stored.', 'No hay ninguno.'],
  title: ['Title', 'Título'],
  updated: ['Changed', 'Modificado'],
  expires: ['Expires', 'Caduca'],
  changes: ['{0} versions', '{0} versiones'],
  untitled: ['without a title', 'sin título'],
  languages: ['Languages', 'Idiomas'],
  versions: ['Versions', 'Versiones'],
  current: ['current', 'actual'],
  earlier: ['This is an earlier version.', 'Esta es una versión anterior.'],
  showCurrent: ['Show the current one', 'Mostrar la actual'],
  since: ['Known since', 'Conocida desde'],
  until: ['until', 'hasta'],
  change: ['What changed', 'Qué cambió'],
  changeOf: ['Against {0}: removed text is struck through.', 'Frente a {0}: el texto eliminado está tachado.'],
  compare: ['Compare with this one', 'Comparar con esta'],
  same: ['Only the form of the words differs.', 'Solo cambia la forma de las palabras.'],
  empty: ['It has no text.', 'No tiene texto.'],
  cut: ['This is the beginning. All of it:', 'Este es el comienzo. El texto entero:'],
  summary: ['Summary', 'Resumen'],
} as const

/** Words of the pages on archives and widgets. */
export const archives = {
  about: ['Files that the operator publishes, by day.', 'Ficheros que publica el operador, por día.'],
  none: ['No editions are stored.', 'No hay ninguna edición.'],
  noneOfDay: ['No editions for {0}.', 'No hay ediciones del {0}.'],
  of: ['Editions of {0}', 'Ediciones del {0}'],
  kind: ['Format', 'Formato'],
  horizon: ['Horizon', 'Horizonte'],
  aboutDays: ['Covers', 'Abarca'],
  file: ['File', 'Fichero'],
  notHeld: ['not downloaded', 'sin descargar'],
  download: ['Download the files of this day:', 'Los ficheros de este día se descargan con:'],
  editions: ['Editions, the latest first', 'Ediciones, la última primero'],
  more: ['The first {0}. Open an archive for the others.', 'Los primeros {0}. Abra un archivo para ver los demás.'],
  widgetsAbout: ["Parts of the operator's own site.", 'Partes del sitio del operador.'],
  slug: ['Name in addresses', 'Nombre en direcciones'],
  list: ['In the list', 'En la lista'],
  single: ['On its own', 'Por separado'],
  cut: ['The beginning of {0} letters.', 'El comienzo de {0} caracteres.'],
  noWidgets: ['No widgets are stored.', 'No hay ningún widget.'],
} as const
