/** A text in both languages. */
export interface Bilingual {
  readonly es: string
  readonly en: string
}

/** Parses a table with a row on each line and bars between the columns. */
export const parseTable = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(' | '))

const ENTITY_NAMES: Readonly<Record<string, string>> = {
  á: 'aacute',
  é: 'eacute',
  í: 'iacute',
  ó: 'oacute',
  ú: 'uacute',
  ñ: 'ntilde',
  Á: 'Aacute',
  '€': 'euro',
}

/** Writes the accents of a text as HTML entities, as the service's editor does. */
export const encode = (html: string): string => html.replaceAll(/[áéíóúñÁ€]/g, (letter) => `&${ENTITY_NAMES[letter]};`)

/** A title or word with its text, both in two languages. */
export interface Article {
  readonly title: Bilingual
  readonly text: Bilingual
}

/** Parses a table of articles: title in Spanish and English, text in Spanish and English. */
export const parseArticles = (table: string): Article[] =>
  parseTable(table).map(([es = '', en = '', textEs = '', textEn = '']) => ({
    title: { es, en },
    text: { es: textEs, en: textEn },
  }))

/** The news, which are repeated in turn. */
export const NEWS = parseArticles(`
  Publicación de indicadores en resolución de 15 minutos | Publication of indicators in 15-minute resolution | Los indicadores siguientes tendr&aacute;n resoluci&oacute;n cuarto-horaria. | The following indicators will have quarter-hourly resolution.
  Actualización de las especificaciones técnicas | Update of the technical specifications | Se ha actualizado el documento de especificaciones t&eacute;cnicas del servicio. | The document with the technical specifications of the service has been updated.
  Modificado el documento de intercambio de información | Information exchange document modified | Se ha publicado una nueva versi&oacute;n del <a href="/documents/1">documento</a>. | A new version of the <a href="/documents/1">document</a> has been published.
  Resultado de la subasta anual de capacidad | Result of the yearly capacity auction | Ya est&aacute;n disponibles los resultados de la subasta. | The results of the auction are available.
  Parada programada del portal | Planned maintenance of the site | El portal no estar&aacute; disponible entre las 6:00 y las 8:00. | The site will not be available between 6:00 and 8:00.`)

/** Titles of the documentation pages. */
export const DOCUMENTATIONS: readonly Bilingual[] = [
  { es: 'Guía de la API', en: 'Guide to the API' },
  { es: 'Manual del mercado diario', en: 'Handbook of the day-ahead market' },
  { es: 'Procedimientos de operación', en: 'Operating procedures' },
  { es: 'Liquidaciones del sistema', en: 'Settlements of the system' },
  { es: 'Servicio de respuesta activa de la demanda', en: 'Active demand response service' },
  { es: 'Control de tensión', en: 'Voltage control' },
  { es: 'Participación de la generación renovable', en: 'Participation of renewable generation' },
  { es: 'Preguntas frecuentes', en: 'Frequently asked questions' },
]

/** Titles of the static pages. */
export const STATIC_PAGES: readonly Bilingual[] = [
  { es: 'Aviso legal', en: 'Legal notice' },
  { es: 'Política de privacidad', en: 'Privacy policy' },
  { es: 'Accesibilidad', en: 'Accessibility' },
  { es: 'Sobre nosotros', en: 'About us' },
  { es: 'Contacto', en: 'Contact' },
]

/** Vocabularies by number. */
export const VOCABULARIES: ReadonlyMap<number, Bilingual> = new Map([
  [5, { es: 'Acción', en: 'Action' }],
  [14, { es: 'Proceso', en: 'Process' }],
  [20, { es: 'Universo', en: 'Universe' }],
  [21, { es: 'Temática', en: 'Subject' }],
  [22, { es: 'Área', en: 'Area' }],
])

/** Terms of the taxonomy by number, with the vocabulary that each belongs to. */
export const TERMS: ReadonlyMap<number, Bilingual & { readonly vocabulary: number }> = new Map([
  [155, { es: 'Generación y consumo', en: 'Generation and consumption', vocabulary: 20 }],
  [156, { es: 'Mercados y precios', en: 'Markets and prices', vocabulary: 20 }],
  [165, { es: 'Descargas', en: 'Downloads', vocabulary: 21 }],
  [168, { es: 'General', en: 'General', vocabulary: 22 }],
  [170, { es: 'Liquidaciones', en: 'Settlements', vocabulary: 22 }],
  [172, { es: 'Programas', en: 'Schedules', vocabulary: 22 }],
])
