import { INDICATORS } from './indicators.ts'
import type { Query } from './query.ts'
import type { World } from './world.ts'

/** One widget: number, name in addresses, type, texts, and the indicators that it shows. */
type Widget = readonly [
  id: number,
  slug: string,
  type: 'Widget' | 'Offer',
  es: string,
  en: string,
  indicators: readonly number[],
]

const WIDGETS: readonly Widget[] = [
  [1, 'potencia', 'Widget', 'GEN. CONVENCIONAL', 'CONVENTIONAL GEN.', [549, 550, 546]],
  [2, 'demanda', 'Widget', 'DEMANDA', 'DEMAND', [1293, 544, 545]],
  [3, 'precio', 'Widget', 'PRECIO', 'PRICE', [600, 1001]],
  [4, 'renovables', 'Widget', 'RENOVABLES', 'RENEWABLES', [551, 1295]],
  [5, 'curva-oferta', 'Offer', 'OFERTA', 'SUPPLY', [25]],
  [6, 'curva-demanda', 'Offer', 'DEMANDA AGREGADA', 'AGGREGATED DEMAND', [26]],
]

const short = ([id, slug, type, es, en]: Widget, query: Query): object => ({
  id_widget: id,
  id: slug,
  name: slug.toUpperCase(),
  subtitle: query.locale === 'en' ? en : es,
  type,
})

/** The answer of `/widgets`. */
export const widgetsAnswer = (query: Query): object => ({
  widgets: WIDGETS.filter(
    ([, , type]) => query.widget_type === undefined || type.toLowerCase() === query.widget_type,
  ).map((widget) => ({
    ...short(widget, query),
    indicators: widget[5],
  })),
})

/** The answer of `/widgets/{id}`, by number or name; undefined when there is none. */
export function widgetAnswer(idOrName: string, query: Query, world: World): object | undefined {
  const widget = WIDGETS.find(([id, slug]) => String(id) === idOrName || slug === idOrName)
  return (
    widget && {
      widget: {
        ...short(widget, query),
        updated_at: new Date(world.now * 1000).toISOString().slice(0, 10),
        indicators: widget[5].map((id) => {
          const indicator = INDICATORS.find((row) => row.id === id)
          return { id, name: indicator && (query.locale === 'en' ? indicator.en : indicator.es) }
        }),
      },
    }
  )
}
