import type { Reader } from '../../db/store.ts'
import type { Service } from '../../service/service.ts'
import { formatUtc, type Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { baseRequest, formatAddress } from '../page.ts'
import { isLocale, PAGE_LOCALES } from '../words/locale.ts'
import { drawSeries } from './seriesPicture.ts'

/** A chart that a command draws. */
export interface RequestedPicture {
  readonly seriesId: number
  readonly geoId: number
  /** Null for the usual range of the page. */
  readonly range: Interval | null
  /** The moment at which the values were known (UTC); null for the current ones. */
  readonly asOf: string | null
  /** The language of the database, if it was chosen. */
  readonly language: string | undefined
  readonly service: Service
  readonly now: Instant
}

/** Draws the picture that the page of the series has, for a command. */
export function drawStoredSeries(
  store: Reader,
  { seriesId, geoId, range, asOf, language, service, now }: RequestedPicture,
): Promise<string> {
  const borders = range === null ? {} : { from: formatUtc(range.from), to: formatUtc(range.to) }
  const address = formatAddress(`/series/s${seriesId}`, { geo: geoId, ...borders, asof: asOf ?? undefined })
  const locale = isLocale(language) ? language : PAGE_LOCALES[0]
  return drawSeries({
    ...baseRequest(store, new URL(address, 'http://here'), { id: `s${seriesId}` }, locale, service),
    now,
    isLive: true,
    isForeign: false,
    version: '',
    link: formatAddress,
    command: (rest) => rest,
    asset: (name) => name,
  })
}
