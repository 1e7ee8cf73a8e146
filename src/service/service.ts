import type { ApiKey } from './key.ts'
import type { Magnitude } from './magnitudes.ts'
import type { ResolutionChange, Steps } from './resolutions.ts'
import type { Locale, Route } from './routes.ts'
import type { ExampleTexts, WellKnown } from './wellKnown.ts'
import type { Windows } from './windowSizes.ts'

/** A service as data, except the fields of its responses, which `transform/` reads. */
export interface Service {
  /** The name for `--service`. */
  readonly name: string
  /** The word in the media type `application/vnd.<vendor>-v<N>+json`. */
  readonly vendor: string
  /** Its address; null if users have different ones. */
  readonly baseUrl: string | null
  /** How it receives the key. */
  readonly apiKey: ApiKey
  /** The zone in which it counts days and writes offsets. */
  readonly timeZone: string
  /** The languages of its texts. In columns that languages share, the first one takes precedence, others replace NULLs. */
  readonly locales: readonly [Locale, ...Locale[]]
  /** Its routes by name. */
  readonly routes: Readonly<Record<string, Route>>
  /** The route that shows whether it can be reached; null for none. */
  readonly probe: string | null
  /** The geos that are shown first, in this order. */
  readonly mainGeos: readonly number[]
  /** The names of geos, which jobs may use instead of ids. The displayed one comes first. */
  readonly geos?: Readonly<Record<number, readonly [name: string, other?: string]>>
  /** The units of its quantities. Other values have the name of their quantity as unit. */
  readonly magnitudes?: readonly Magnitude[]
  /** What users must know of the times of some geos. */
  readonly geoNotes?: Readonly<Record<number, string>>
  /** The geos of common indicators, which are shown before values are stored. */
  readonly indicatorGeos?: Readonly<Record<number, readonly number[]>>
  /** The indicators of recipes, the demo and examples. */
  readonly wellKnown: WellKnown
  /** Everyday names of common indicators, by which a search finds them, too. */
  readonly aliases?: Readonly<Record<number, readonly string[]>>
  /** Forecasts with the indicators that they forecast. */
  readonly forecasts?: readonly { readonly actual: number; readonly forecast: number }[]
  /** Indicators whose values for tomorrow are published today. */
  readonly publishedAhead?: readonly number[]
  /** The texts of searches and examples; null for none. */
  readonly exampleTexts: ExampleTexts | null
  /** The resolutions that it states. */
  readonly steps: Steps
  /** The sizes of the first windows. */
  readonly windows: Windows
  /** Announced changes of resolution. */
  readonly changes: readonly ResolutionChange[]
}

/** The values of examples in messages. */
export interface Examples {
  readonly indicator: number
  readonly second: number
  /** A word of texts, and a term of the catalogue. */
  readonly word: string
  readonly term: string
}

/** Returns examples from the data of a service. */
export function exampleValues({ wellKnown, exampleTexts }: Pick<Service, 'wellKnown' | 'exampleTexts'>): Examples {
  const [indicator = 1, second = 2] = Object.values(wellKnown).flatMap((series) => series.indicator ?? [])
  return { indicator, second, ...(exampleTexts ?? { word: 'word', term: 'term' }) }
}
