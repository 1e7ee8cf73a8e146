import { ALIASES, FORECASTS } from './aliases.ts'
import { GEO_NOTES, GEOS, INDICATOR_GEOS } from './geos.ts'
import { API_KEY } from './key.ts'
import { MAGNITUDES } from './magnitudes.ts'
import { CHANGES, STEPS } from './resolutions.ts'
import { LOCALES, PROBE, ROUTES } from './routes.ts'
import type { Service } from './service.ts'
import { EXAMPLE_TEXTS, MAIN_GEOS, PUBLISHED_AHEAD, WELL_KNOWN } from './wellKnown.ts'
import { WINDOWS } from './windowSizes.ts'

/** What the services have in common. Source: the specification. */
const SHARED = {
  apiKey: API_KEY,
  timeZone: 'Europe/Madrid',
  locales: LOCALES,
  routes: ROUTES,
  probe: PROBE,
  mainGeos: MAIN_GEOS,
  geos: GEOS,
  geoNotes: GEO_NOTES,
  indicatorGeos: INDICATOR_GEOS,
  magnitudes: MAGNITUDES,
  wellKnown: WELL_KNOWN,
  aliases: ALIASES,
  forecasts: FORECASTS,
  publishedAhead: PUBLISHED_AHEAD,
  exampleTexts: EXAMPLE_TEXTS,
  steps: STEPS,
  windows: WINDOWS,
  changes: CHANGES,
} as const satisfies Partial<Service>

/** The services that `--service` names. Source: the specification, and the operator's own pages for `esios`. */
export const SERVICES: Readonly<Record<'generic' | 'esios', Service>> = {
  generic: { ...SHARED, name: 'generic', vendor: 'service-api', baseUrl: null },
  esios: { ...SHARED, name: 'esios', vendor: 'esios-api', baseUrl: 'https://api.esios.ree.es' },
}

export type ServiceName = keyof typeof SERVICES
/** The live service, for messages and examples. */
export const LIVE: ServiceName = 'esios'
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[]
