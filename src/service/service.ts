import type { ApiKey } from './key.ts'
import type { Magnitude } from './magnitudes.ts'
import type { ResolutionChange, Steps } from './resolutions.ts'
import type { Locale, Route } from './routes.ts'
import type { ExampleTexts, WellKnown } from './wellKnown.ts'
import type { Windows } from './windowSizes.ts'

/** A service as data: everything that is particular to one, except the fields of its answers (`transform/` reads them). */
export interface Service {
  /** The name of the service, as `--service` takes it. */
  readonly name: string
  /** The word in the media type `application/vnd.<vendor>-v<N>+json`. */
  readonly vendor: string
  /** Where it is, when that is the same for everybody. */
  readonly baseUrl: string | null
  /** How it is shown the key. */
  readonly apiKey: ApiKey
  /** The zone in which it counts days and writes offsets. */
  readonly timeZone: string
  /** The languages of its texts. Where languages share a column, the first one wins; others fill what it leaves empty. */
  readonly locales: readonly [Locale, ...Locale[]]
  /** What can be requested, by name, with the parameters of each call and the shape of its answer. */
  readonly routes: Readonly<Record<string, Route>>
  /** The route that is called to find out whether it answers; null for none. */
  readonly probe: string | null
  /** The geos that are shown first by default, in this order. */
  readonly mainGeos: readonly number[]
  /** The names of geos, which jobs may use in place of ids; the one that is shown comes first. */
  readonly geos?: Readonly<Record<number, readonly [name: string, other?: string]>>
  /** The units of its quantities; values of other quantities have the name of their quantity as unit. Default: none are known. */
  readonly magnitudes?: readonly Magnitude[]
  /** The geos of often used indicators, which are shown before any value is stored. */
  readonly indicatorGeos?: Readonly<Record<number, readonly number[]>>
  /** The indicators that recipes, the demo and examples are about by default. */
  readonly wellKnown: WellKnown
  /** Indicators whose values for tomorrow are published today: windows that end today leave them out. */
  readonly publishedAhead?: readonly number[]
  /** What searches and examples are about by default; null where nothing is known. */
  readonly exampleTexts: ExampleTexts | null
  /** How it names the resolution of an answer. */
  readonly steps: Steps
  /** How much is requested at once before anything was learned. */
  readonly windows: Windows
  /** Changes of resolution that its operator announced. */
  readonly changes: readonly ResolutionChange[]
}

/** What examples in messages are about. */
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
