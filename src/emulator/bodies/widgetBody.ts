import { formatUtc } from '../../util/time/instant.ts'
import { type ParsedQuery, queryLocale } from '../parseQuery.ts'
import { INDICATORS, OFFERS } from '../world/indicators.ts'
import { encode, parseTable } from '../world/texts.ts'
import type { World } from '../world/world.ts'

/** The widgets: id, slug, type, subtitle in both languages, description in both languages, and the indicators that it shows. */
const WIDGETS = parseTable(`
  1 | potencia | Widget | GEN. CONVENCIONAL | CONVENTIONAL GEN. | Generación de origen térmico, nuclear e hidráulico. | Thermal, nuclear and hydro generation. | 549, 550, 546
  2 | demanda | Widget | DEMANDA | DEMAND | Demanda real, prevista y programada. | Actual, forecast and scheduled demand. | 1293, 544, 545
  3 | precio | Widget | PRECIO | PRICE | Precio del mercado diario y PVPC. | Day-ahead price and regulated retail price. | 600, 1001
  4 | renovables | Widget | GEN. RENOVABLE | RENEWABLE GEN. | Generación eólica y solar en tiempo real. | Wind and solar generation in real time. | 551, 1295, 1294
  5 | emisiones | Widget | EMISIONES DE CO2 | CO2 EMISSIONS | CO2 de la generación en tiempo real. | CO2 of generation in real time. | 10355
  6 | interconexiones | Widget | INTERCONEXIONES | INTERCONNECTIONS | Saldo neto con los países vecinos. | Net balance with the neighbouring countries. | 10207, 10208, 10209
  7 | oferta-mercado-diario | Offer | OFERTA | SUPPLY | Energía ofertada en el mercado diario. | Energy offered in the day-ahead market. | 25, 26
  8 | oferta-terciaria | Offer | TERCIARIA | TERTIARY | Energía ofertada en regulación terciaria. | Energy offered for tertiary regulation. | 27, 28`).map(
  ([id, slug = '', type = '', es = '', en = '', aboutEs = '', aboutEn = '', shows = '']) => ({
    id: Number(id),
    slug,
    type,
    subtitle: { es, en },
    about: { es: aboutEs, en: aboutEn },
    shows: shows.split(', ').map(Number),
  }),
)
type Widget = (typeof WIDGETS)[number]

const identityFields = ({ id, slug, type, subtitle }: Widget, query: ParsedQuery) => ({
  id_widget: id,
  id: slug,
  name: slug.toUpperCase(),
  subtitle: subtitle[queryLocale(query)],
  type,
})

/** The body of `/widgets`. */
export const widgetsBody = (query: ParsedQuery): object => ({
  widgets: WIDGETS.filter(
    ({ type }) => query.widget_type === undefined || type.toLowerCase() === query.widget_type,
  ).map((widget) => ({ ...identityFields(widget, query), position: widget.id, indicators: widget.shows })),
})

/** The body of `/widgets/{id}`, by number or name; undefined if there is none. */
export function widgetBody(idOrName: string, query: ParsedQuery, world: World): object | undefined {
  const widget = WIDGETS.find(({ id, slug }) => String(id) === idOrName || slug === idOrName)
  if (!widget) return undefined
  const locale = queryLocale(query)
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
