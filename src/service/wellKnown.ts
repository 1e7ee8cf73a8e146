/** An indicator with its most useful geo; null if the service has none. */
export interface WellKnownSeries {
  readonly indicator: number | null
  readonly geo: number | null
}

/** The subjects of recipes, the demo and examples in the help. */
export interface WellKnown {
  /** The price of the day-ahead market. */
  readonly spotPrice: WellKnownSeries
  /** The price of another session of the same market. */
  readonly sessionPrice: WellKnownSeries
  /** The traded energy of each period. Periods became shorter in 2025. */
  readonly tradedEnergy: WellKnownSeries
  /** The regulated consumer price in the Canary Islands, whose clock is an hour behind. */
  readonly canaryPrice: WellKnownSeries
  readonly demand: WellKnownSeries
  readonly demandForecast: WellKnownSeries
  readonly wind: WellKnownSeries
  readonly solar: WellKnownSeries
  readonly hydro: WellKnownSeries
  readonly nuclear: WellKnownSeries
  readonly combinedCycle: WellKnownSeries
}

/** The country, for prices, and its peninsula, for powers. */
const COUNTRY = 3
const PENINSULA = 8741
const CANARIES = 8742
const price = (indicator: number) => ({ indicator, geo: COUNTRY })
const power = (indicator: number) => ({ indicator, geo: PENINSULA })

/** Source: the operator's catalogue. */
export const WELL_KNOWN = {
  spotPrice: price(600),
  sessionPrice: price(612),
  tradedEnergy: price(602),
  canaryPrice: { indicator: 1001, geo: CANARIES },
  demand: power(1293),
  demandForecast: power(544),
  wind: power(551),
  solar: power(1295),
  hydro: power(546),
  nuclear: power(549),
  combinedCycle: power(550),
} as const satisfies WellKnown

/** Two indicators for examples in the help. */
export const EXAMPLE = WELL_KNOWN.spotPrice.indicator
export const SECOND_EXAMPLE = WELL_KNOWN.sessionPrice.indicator

/** Texts for searches and examples. */
export interface ExampleTexts {
  /** A word of many texts. */
  readonly word: string
  /** A term of indicators in the catalogue. */
  readonly term: string
}
export const EXAMPLE_TEXTS: ExampleTexts = { word: 'precio', term: 'Precios' }

/** The geos that are shown first by default, the widest first. Source: the operator's values. */
export const MAIN_GEOS: readonly number[] = [COUNTRY, PENINSULA]

/**
 * Common indicators with values for tomorrow: day-ahead prices and energy, first intraday sessions, PVPC, and forecasts of demand,
 * wind and sun. Without 544, which has only three hours of tomorrow. Source: descriptions in the catalogue, and publication times.
 */
export const PUBLISHED_AHEAD: readonly number[] = [460, 541, 600, 602, 612, 613, 1001, 1739, 1775, 1777, 1779, 10034]
