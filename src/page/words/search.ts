import { type Pair, t } from './locale.ts'

/** Words of the search. */
export const search = {
  about: [
    'Search the catalogue, texts and archives. Accents do not matter; a word also finds longer words that begin with it.',
    'Busque en el catálogo, los textos y los archivos. Los acentos no importan; una palabra encuentra también las que empiezan por ella.',
  ],
  words: ['Words, or a number', 'Palabras, o un número'],
  where: ['Where', 'Dónde'],
  places: {
    all: ['everywhere', 'en todo'],
    catalogue: ['in the catalogue', 'en el catálogo'],
    content: ['in texts', 'en textos'],
    archives: ['in archives', 'en archivos'],
  },
  find: ['Find', 'Buscar'],
  none: t(
    (text: string) => `No results for “${text}”. Try fewer words, or the beginnings of them.`,
    (text) => `Sin resultados para «${text}». Pruebe con menos palabras, o con sus comienzos.`,
  ),
  found: t(
    (shown: number, total: number, more: boolean) =>
      shown < total
        ? `The first ${shown} of ${total.toLocaleString('en')}${more ? ' or more' : ''}; more words find fewer.`
        : `${total} found.`,
    (shown, total, more) =>
      shown < total
        ? `Los primeros ${shown} de ${total.toLocaleString('es')}${more ? ' o más' : ''}; más palabras encuentran menos.`
        : `${total} encontrados.`,
  ),
  kinds: {
    indicator: ['Indicator', 'Indicador'],
    offer_indicator: ['Offer indicator', 'Indicador de oferta'],
    news: ['News', 'Noticia'],
    glossary: ['Glossary', 'Glosario'],
    documentation: ['Documentation', 'Documentación'],
    static_page: ['Page', 'Página'],
    archive: ['Archive', 'Archivo'],
    archive_json: ['JSON archive', 'Archivo JSON'],
  } as Readonly<Record<string, Pair>>,
  held: ['View values:', 'Ver valores:'],
} as const
