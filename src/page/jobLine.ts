import { ENTRY_ROUTES } from '../job/entryRoutes.ts'

/** The line of a job that fetches an indicator. */
export function jobLine(kind: string, id: number): string {
  const isOffer = kind === ENTRY_ROUTES.offers
  const route = isOffer || kind === ENTRY_ROUTES.series ? '' : `route: ${kind}, `
  return `${isOffer ? 'offers' : 'series'}: [{ ${route}indicators: [${id}], window: { last: 30d } }]`
}
