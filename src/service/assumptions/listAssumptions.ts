import { brief, toList, toText } from '../../util/json.ts'
import { grouped } from '../../util/text.ts'
import { type Assumption, fieldsOf, itemsIn, type ProbeResponse, unknown, verdict } from './assumption.ts'

/** The local day of the archive requests. */
const LISTED_DAY = '2025-10-01'
const OFFICIAL = 'Official pages, without a recorded response'

/** Judges how many items of a list fulfil a condition; unknown for an empty list. */
function judgeItems(
  response: ProbeResponse,
  root: string,
  fulfils: (item: Readonly<Record<string, unknown>>) => boolean,
) {
  const items = itemsIn(response, root)
  if (items.length === 0) return unknown('the list is empty')
  const fitting = items.filter(fulfils).length
  return verdict(fitting === items.length, `${grouped(fitting)} of ${grouped(items.length)} items`)
}

/** Judges a single widget. */
function judgeWidget({ body }: ProbeResponse) {
  const { id_widget: number, id } = fieldsOf(fieldsOf(body).widget)
  return verdict(number === 1 && id === 'potencia', `id_widget ${brief(number)}, id ${brief(id)}`)
}

/** The assumptions about lists, texts, archives and widgets. */
export const LIST_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'catalogue',
    expected: 'The catalogue is complete, as `meta.size` says, and arrives within a minute.',
    certainty: 'known',
    source: 'A recorded response; the time is claimed by other clients',
    requests: ['catalogue'],
    matters: true,
    consequence:
      'A slow catalogue times out, and an incomplete one withdraws nothing. Select indicators by id in jobs.',
    judge: ({ catalogue }) => {
      const { length } = itemsIn(catalogue, 'indicators')
      const { size } = fieldsOf(fieldsOf(catalogue.body).meta)
      const seconds = (catalogue.ms / 1000).toFixed(1)
      const seen = `${grouped(length)} of ${brief(size)} rows, ${grouped(catalogue.bytes)} bytes, ${seconds} s`
      return verdict(length === size && length > 0 && catalogue.ms < 60_000, seen)
    },
  },
  {
    id: 'content-order',
    expected: '`order=published` lists the newest item first.',
    certainty: 'guessed',
    source: 'The specification, which states no direction',
    requests: ['news'],
    matters: false,
    consequence: 'Nothing changes: all items of a list are stored.',
    judge: ({ news }) => {
      const times = itemsIn(news, 'contents').flatMap(({ published_at: at }) =>
        typeof at === 'string' ? [Date.parse(at)] : [],
      )
      if (times.length < 2) return unknown('fewer than two items have a time')
      const isFalling = times.every((at, i) => i === 0 || at <= times[i - 1]!)
      return verdict(isFalling, `${times.length} items, ${isFalling ? 'newest first' : 'not newest first'}`)
    },
  },
  {
    id: 'sticky',
    expected: '`sticky=true` lists only sticky items.',
    certainty: 'known',
    source: 'The specification',
    requests: ['sticky'],
    matters: false,
    consequence: 'Nothing changes: jobs fetch all items.',
    judge: ({ sticky }) => judgeItems(sticky, 'contents', (item) => item.sticky === true),
  },
  {
    id: 'archives-by-data',
    expected: '`date_type=datos` lists the archives with data of that day.',
    certainty: 'known',
    source: 'A recorded response',
    requests: ['archives'],
    matters: true,
    consequence: 'Editions are stored under the dates that the service states. Compare them with `archives list`.',
    judge: ({ archives }) =>
      judgeItems(archives, 'archives', (item) => toText(fieldsOf(item.date).date)?.startsWith(LISTED_DAY) ?? false),
  },
  {
    id: 'archives-by-publication',
    expected: '`date_type=publicacion` lists the archives published on that day.',
    certainty: 'inferred',
    source: 'The specification',
    requests: ['published'],
    matters: true,
    consequence: 'Use `dateType: datos` in jobs.',
    judge: ({ published }) =>
      judgeItems(published, 'archives', ({ publication_date: listed }) => {
        // One day, or the first and the last.
        const first = toText(toList(listed)[0])
        const last = toText(toList(listed).at(-1))
        return first !== null && last !== null && first <= LISTED_DAY && last >= LISTED_DAY
      }),
  },
  {
    id: 'archives-as-json',
    expected: 'The list of JSON archives has an address in `json_download.url`.',
    certainty: 'known',
    source: OFFICIAL,
    requests: ['jsonArchives'],
    matters: true,
    consequence: 'Archives without an address cannot be downloaded. Omit `archivesJson` in jobs.',
    judge: ({ jsonArchives }) =>
      judgeItems(jsonArchives, 'archives', (item) => typeof fieldsOf(item.json_download).url === 'string'),
  },
  {
    id: 'download-redirect',
    expected: 'A download redirects to another host, which sends the file without the key.',
    certainty: 'known',
    source: 'A recorded response',
    requests: ['archives', 'download'],
    matters: true,
    consequence: 'The key never goes to another host. If that host refuses, files cannot be downloaded.',
    isAboutStatus: true,
    judge: ({ download: { status, redirected } }) => {
      if (status === 429 || status >= 500) return unknown(`status ${status}`)
      if (!redirected) return verdict(false, `status ${status} without a redirect`)
      const host = redirected.isOtherHost ? 'another host' : 'the same host'
      const isRight = redirected.isOtherHost && redirected.status === 200
      return verdict(isRight, `status ${status} to ${host}, there status ${redirected.status}`)
    },
  },
  {
    id: 'widget-by-number',
    expected: 'Version 2 returns widget 1 by its number `id_widget`.',
    certainty: 'inferred',
    source: 'The specification, and five recorded fields',
    requests: ['widget'],
    matters: true,
    consequence: 'Widgets by number fail. Use names in jobs.',
    judge: ({ widget }) => judgeWidget(widget),
  },
  {
    id: 'widget-by-name',
    expected: 'Version 1 returns the same widget by its name.',
    certainty: 'inferred',
    source: 'The specification, and five recorded fields',
    requests: ['namedWidget'],
    matters: false,
    consequence: 'Nothing changes for numbers: the program requests single widgets with version 2.',
    judge: ({ namedWidget }) => judgeWidget(namedWidget),
  },
]
