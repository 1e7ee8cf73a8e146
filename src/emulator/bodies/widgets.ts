import { formatUtc } from '../../util/time/instant.ts'
import { localeOf, type ParsedQuery } from '../query.ts'
import { INDICATORS, OFFERS } from '../world/indicators.ts'
import { type Bilingual, encode } from '../world/texts.ts'
import type { World } from '../world/world.ts'

/** One widget: id, slug, type, subtitle, description, and the indicators that it shows. */
interface Widget {
  readonly id: number
  readonly slug: string
  readonly type: 'Widget' | 'Offer'
  readonly subtitle: Bilingual
  readonly about: Bilingual
  readonly shows: readonly number[]
}

const WIDGETS: readonly Widget[] = [
  {
    id: 1,
    slug: 'potencia',
    type: 'Widget',
    subtitle: { es: 'GEN. CONVENCIONAL', en: 'CONVENTIONAL GEN.' },
    about: { es: 'Generación de origen térmico, nuclear e hidráulico.', en: 'Thermal, nuclear and hydro generation.' },
    shows: [549, 550, 546],
  },
  {
    id: 2,
    slug: 'demanda',
    type: 'Widget',
    subtitle: { es: 'DEMANDA', en: 'DEMAND' },
    about: { es: 'Demanda real, prevista y programada.', en: 'Actual, forecast and scheduled demand.' },
    shows: [1293, 544, 545],
  },
  {
    id: 3,
    slug: 'precio',
    type: 'Widget',
    subtitle: { es: 'PRECIO', en: 'PRICE' },
    about: { es: 'Precio del mercado diario y PVPC.', en: 'Day-ahead price and regulated retail price.' },
    shows: [600, 1001],
  },
  {
    id: 4,
    slug: 'renovables',
    type: 'Widget',
    subtitle: { es: 'GEN. RENOVABLE', en: 'RENEWABLE GEN.' },
    about: { es: 'Generación eólica y solar en tiempo real.', en: 'Wind and solar generation in real time.' },
    shows: [551, 1295, 1294],
  },
  {
    id: 5,
    slug: 'emisiones',
    type: 'Widget',
    subtitle: { es: 'EMISIONES DE CO2', en: 'CO2 EMISSIONS' },
    about: { es: 'CO2 de la generación en tiempo real.', en: 'CO2 of generation in real time.' },
    shows: [10355],
  },
  {
    id: 6,
    slug: 'interconexiones',
    type: 'Widget',
    subtitle: { es: 'INTERCONEXIONES', en: 'INTERCONNECTIONS' },
    about: { es: 'Saldo neto con los países vecinos.', en: 'Net balance with the neighbouring countries.' },
    shows: [10207, 10208, 10209],
  },
  {
    id: 7,
    slug: 'oferta-mercado-diario',
    type: 'Offer',
    subtitle: { es: 'OFERTA', en: 'SUPPLY' },
    about: { es: 'Energía ofertada en el mercado diario.', en: 'Energy offered in the day-ahead market.' },
    shows: [25, 26],
  },
  {
    id: 8,
    slug: 'oferta-terciaria',
    type: 'Offer',
    subtitle: { es: 'TERCIARIA', en: 'TERTIARY' },
    about: { es: 'Energía ofertada en regulación terciaria.', en: 'Energy offered for tertiary regulation.' },
    shows: [27, 28],
  },
]

const identityFields = ({ id, slug, type, subtitle }: Widget, query: ParsedQuery) => ({
  id_widget: id,
  id: slug,
  name: slug.toUpperCase(),
  subtitle: subtitle[localeOf(query)],
  type,
})

/** The answer of `/widgets`. */
export const widgetsAnswer = (query: ParsedQuery): object => ({
  widgets: WIDGETS.filter(
    ({ type }) => query.widget_type === undefined || type.toLowerCase() === query.widget_type,
  ).map((widget) => ({ ...identityFields(widget, query), position: widget.id, indicators: widget.shows })),
})

/** The answer of `/widgets/{id}`, by number or name; undefined when there is none. */
export function widgetAnswer(idOrName: string, query: ParsedQuery, world: World): object | undefined {
  const widget = WIDGETS.find(({ id, slug }) => String(id) === idOrName || slug === idOrName)
  if (!widget) return undefined
  const locale = localeOf(query)
  return {
    widget: {
      ...identityFields(widget, query),
      description: encode(`<p>${widget.about[locale]}</p>`),
      updated_at: formatUtc(world.now).slice(0, 10),
      indicators: [...INDICATORS, ...OFFERS]
        .filter(({ id }) => widget.shows.includes(id))
        .map((indicator) => ({
          id: indicator.id,
          name: indicator[locale],
          short_name: indicator.short,
          magnitud: [{ name: indicator.magnitude[1], id: indicator.magnitude[0] }],
        })),
    },
  }
}
