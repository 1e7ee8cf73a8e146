import { endOfValues } from '../../../db/queries/seriesLookup.ts'
import { type Instant, parseInstant } from '../../../util/time/instant.ts'
import { addUnits, floorTo } from '../../../util/time/zone.ts'
import { type Html, type HtmlPart, html } from '../../html.ts'
import { NotFound, type PageRequest, view } from '../../page.ts'
import {
  type ExplainedRequest,
  type ExplainedValue,
  type ExplainedVersion,
  explainValue,
} from '../../queries/series/explain.ts'
import { type NamedGeoSeries, readNamedGeoSeries } from '../../queries/series/geoSeries.ts'
import { borderText } from '../../queries/series/range.ts'
import { sqlOf } from '../../queries/series/shownSql.ts'
import { numberText } from '../numbers.ts'
import { lengthText, momentText, timeText } from '../times.ts'

interface ExplainData extends ExplainedValue {
  /** The series of one geo, named as in the JSON of the page. */
  readonly dataset: NamedGeoSeries
  /** The instants of the neighbouring values; null where there is none. */
  readonly previous: Instant | null
  readonly next: Instant | null
  /** The SQL statement that gives all versions. */
  readonly sql: string
}

async function read(request: PageRequest): Promise<ExplainData> {
  const { id, geo = null, at: text = '' } = request.params
  const dataset = await readNamedGeoSeries(request, id, geo)
  // Seconds since 1970, or the instant as it is written elsewhere.
  const at = /^-?\d{1,12}$/.test(text) ? Number(text) : parseInstant(text)
  const explained = Number.isNaN(at) ? undefined : await explainValue(request.store, dataset, at)
  if (!explained) throw new NotFound(`value ${text}`)
  return {
    ...explained,
    dataset,
    previous: await endOfValues(request.store, dataset, 'last', { beyond: at }),
    next: await endOfValues(request.store, dataset, 'first', { beyond: at }),
    sql: sqlOf(dataset, { from: at, to: at + 1 }, null)
      .replace('from observations\n', 'from observation_history\n')
      .replace('value\n', 'value, valid_from, valid_to\n'),
  }
}

/** The request that brought or ended a version, and its run. */
function origin(
  which: string,
  { run, job, command, target, status, ms, reason, entry, at }: ExplainedRequest,
  { dataset }: ExplainData,
  { words: { explain: words }, link }: PageRequest,
): Html {
  return html`<dt>${which}</dt><dd><a href="${link(`/runs/${run}`)}">${words.run(run, job ?? '', command ?? '')}</a>, ${momentText(dataset.zone, at)}${reason !== null && ` · ${words.reason}: ${reason}`}${entry !== '' && ` · ${words.entry}: ${entry}`}</dd>
${target !== '' && html`<dt>${words.request}</dt><dd><code>GET ${target}</code> ${words.status(String(status ?? '–'), String(ms))}</dd>`}`
}

/** A version and its origin. */
function versionView(one: ExplainedVersion, data: ExplainData, request: PageRequest): Html {
  const { locale } = request
  const { explain: words } = request.words
  const { zone, unit } = data.dataset
  const isNow = one.until === null
  const value = one.value === null ? 'null' : numberText(one.value, locale)
  const when = [
    one.origin && words.since(momentText(zone, one.origin.at)),
    one.until && words.until(momentText(zone, one.until.at)),
  ]
  const place: HtmlPart =
    typeof one.place === 'string'
      ? words.places[one.place]
      : html`<code>${one.place.path}</code><pre>${one.place.fragment}</pre>`
  return html`<li class="version"><h2>${isNow ? words.now : words.was} <data value="${one.value}">${value}</data> ${unit}</h2>
<p class="soft">${when.filter((text) => text !== null).join(', ')} · ${words.step} ${lengthText(one.step)}</p>
<dl>${one.origin && origin(words.brought, one.origin, data, request)}${one.until && origin(words.ended, one.until, data, request)}
<dt>${words.place}</dt><dd>${place}</dd></dl></li>`
}

function show(data: ExplainData, request: PageRequest): Html {
  const { dataset, at, versions, confirmed } = data
  const { words, link } = request
  const { explain: labels } = words
  const day = floorTo(dataset.zone, at, 'day')
  const range = {
    from: borderText(dataset.zone, day),
    to: borderText(dataset.zone, addUnits(dataset.zone, day, 'day', 1)),
  }
  const other = (to: Instant | null, rel: string, text: string): HtmlPart =>
    to !== null && html`<a rel="${rel}" href="${link(`/explain/${dataset.path}/${dataset.geoId}/${to}`)}">${text}</a> `
  return html`<p><bdi>${dataset.indicator} ${dataset.name}</bdi> · <bdi>${dataset.geo.name ?? dataset.geo.id}</bdi> · ${timeText(dataset.zone, at)}</p>
<p>${other(data.previous, 'prev', labels.previous)}${other(data.next, 'next', labels.next)}<a href="${link(`/series/${dataset.path}`, { geo: dataset.geoId, ...range })}">${labels.back}</a></p>
${versions[0]?.until !== null && html`<p class="bad">${labels.withdrawn}</p>`}
<ol class="versions">${versions.map((one) => versionView(one, data, request))}</ol>
${confirmed && html`<p>${labels.confirmed(momentText(dataset.zone, confirmed.at))}</p>`}
<h2>${labels.elsewhere}</h2><pre>${data.sql}</pre>`
}

/** Where a value comes from. */
export const explainView = view<ExplainData>({
  read,
  show,
  title({ dataset, at, versions }, { locale, words }) {
    const [first] = versions
    const value = `${numberText(first?.value, locale)} ${dataset.unit ?? ''}`.trim()
    return `${words.common.pages.explain}: ${words.explain.title(value, timeText(dataset.zone, at))}`
  },
})
