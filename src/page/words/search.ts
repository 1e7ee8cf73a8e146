import type { Translated } from './locale.ts'

/** Words of the search. */
export const en = {
  about:
    'Where something is spoken of: in the catalogue, in texts, in archives. Accents do not matter, and a word finds what begins with it.',
  words: 'Words, or a number',
  where: 'Where',
  places: { all: 'everywhere', catalogue: 'in the catalogue', content: 'in texts', archives: 'in archives' },
  find: 'Find',
  none: (text: string) => `Nothing speaks of “${text}”. Try fewer words, or the beginnings of them.`,
  found: (shown: number, total: number, more: boolean) =>
    shown < total
      ? `The first ${shown} of ${total.toLocaleString('en')}${more ? ' or more' : ''}; more words find fewer.`
      : `${total} found.`,
  kinds: {
    indicator: 'Indicator',
    offer_indicator: 'Offer indicator',
    news: 'News',
    glossary: 'Glossary',
    documentation: 'Documentation',
    static_page: 'Page',
    archive: 'Archive',
    archive_json: 'JSON archive',
  } as Readonly<Record<string, string>>,
  held: 'values held:',
}

export const es: Translated<typeof en> = {
  about:
    'Dónde se habla de algo: en el catálogo, en textos, en archivos. Los acentos no importan, y una palabra encuentra lo que empieza por ella.',
  words: 'Palabras, o un número',
  where: 'Dónde',
  places: { all: 'en todo', catalogue: 'en el catálogo', content: 'en textos', archives: 'en archivos' },
  find: 'Buscar',
  none: (text) => `Nada menciona «${text}». Pruebe con menos palabras, o con sus comienzos.`,
  found: (shown, total, more) =>
    shown < total
      ? `Los primeros ${shown} de ${total.toLocaleString('es')}${more ? ' o más' : ''}; más palabras encuentran menos.`
      : `${total} encontrados.`,
  kinds: {
    indicator: 'Indicador',
    offer_indicator: 'Indicador de oferta',
    news: 'Noticia',
    glossary: 'Glosario',
    documentation: 'Documentación',
    static_page: 'Página',
    archive: 'Archivo',
    archive_json: 'Archivo JSON',
  },
  held: 'valores conservados:',
}
