import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import { readEndOfValues } from '../../db/queries/seriesLookup.ts'
import { currentValues, supersededValues } from '../../db/queries/values.ts'
import type { Reader } from '../../db/store.ts'
import { isObject, type Json } from '../../util/json.ts'
import { decompressBody } from '../../util/storedBody.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import { addUnits, floorTo } from '../../util/time/zone.ts'
import { lengthText } from '../client/format.ts'
import { momentText, numberText, timeText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { NotFound, type PageRequest, view } from '../page.ts'
import { rangeQuery, readNamedLine, timeIn, versionsStatement } from '../queries/series/seriesQuery.ts'
import { includesGeo, type Line } from '../queries/series/window.ts'

/** Bytes. Larger replies are not searched for a value. */
const SEARCHED_BYTES = 64 * 1024 * 1024

/** Reads a request and its run; null if it is not recorded. */
async function readOrigin({ kysely }: Reader, id: number | null) {
  const query = kysely
    .selectFrom('_fetch as f')
    .leftJoin('_run as r', 'r.id', 'f.run_id')
    .select(['f.id as fetch', 'f.run_id as run', 'r.job', 'r.command', 'f.entry', 'f.reason', 'f.target'])
    .select(['f.status', 'f.ms', 'f.finished_at as at', 'f.reply_hash as reply'])
    .where('f.id', '=', id)
  return (await query.executeTakeFirst()) ?? null
}

type Origin = NonNullable<Awaited<ReturnType<typeof readOrigin>>>

/** The geo of a value in a reply, by the rules of the loader. */
const geoIn = ({ geo_id: id, geo_ids: ids }: Readonly<Record<string, unknown>>): unknown =>
  id ?? (Array.isArray(ids) && ids.length === 1 ? ids[0] : 0)

/** Finds the last value of an instant and geo in a reply, with its JSON path. */
function findValue(body: unknown, { geoId }: Line, at: Instant) {
  for (const [name, item] of Object.entries(isObject(body) ? body : {})) {
    if (!isObject(item) || !Array.isArray(item.values)) continue
    const i = item.values.findLastIndex((row: unknown) => {
      if (!isObject(row) || geoIn(row) !== geoId) return false
      const text = row.datetime ?? row.tz_time
      return typeof text === 'string' && parseInstant(text) === at
    })
    const fragment = JSON.stringify(item.values[i] as Json, null, 1)?.slice(0, 2_000)
    if (i >= 0) return { path: `$.${name}.values[${i}]`, fragment }
  }
  return undefined
}

/** Finds a value in a stored reply, or the reason why it cannot be shown. */
async function findInReply({ kysely }: Reader, line: Line, at: Instant, hash: string | null) {
  const replies = kysely.selectFrom('_reply').select(['body', 'bytes']).where('hash', '=', hash)
  const row = await replies.executeTakeFirst()
  if (row === undefined) return 'pruned' as const
  if (row.bytes > SEARCHED_BYTES) return 'large' as const
  try {
    const body = await decompressBody(row.body, row.bytes)
    return findValue(JSON.parse(body.toString('utf8')), line, at) ?? ('not-found' as const)
  } catch {
    return 'damaged' as const
  }
}

/** Finds the last fetch that covered an instant, whether it changed anything or not. */
async function findConfirmation(db: Reader, { seriesId, geoId }: Line, at: Instant): Promise<number | null> {
  const rows = await db.kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids'])
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('from_at', '<=', at)
    .where('to_at', '>', at)
    .orderBy('id', 'desc')
    .execute()
  return rows.find(({ geo_ids }) => includesGeo(geo_ids, geoId))?.id ?? null
}

/** Reads every version of a value, newest first, with its requests and its place in the stored reply. */
async function readVersions(db: Reader, line: Line, at: Instant) {
  const range = { ...line, from: at, to: at + 1 }
  const current = (await currentValues.all(db.kysely, range)).map((row) => ({ ...row, superseded_by: null }))
  const earlier = await supersededValues.all(db.kysely, range)
  const versions = []
  for (const { value, step_s: step, fetch_id, superseded_by } of [...current, ...earlier.reverse()]) {
    const origin = await readOrigin(db, fetch_id)
    // The request that ended it; null for the current version.
    const until = await readOrigin(db, superseded_by)
    versions.push({ value, step, origin, until, place: await findInReply(db, line, at, origin?.reply ?? null) })
  }
  return versions
}

async function readValue(request: PageRequest) {
  const { store, params } = request
  const { id, geo = null, at: text = '' } = params
  const line = await readNamedLine(request, id, geo)
  // Seconds since 1970, or a time as in other addresses.
  const at = /^-?\d{1,12}$/.test(text) ? Number(text) : timeIn(line.zone, text)
  const versions = Number.isNaN(at) ? [] : await readVersions(store, line, at)
  if (versions.length === 0) throw new NotFound(`value ${text}`)
  return {
    at,
    versions,
    confirmed: await readOrigin(store, await findConfirmation(store, line, at)),
    /** The line, by its name in the JSON of the page. */
    dataset: line,
    /** The instants of the neighbouring values, if any. */
    previous: await readEndOfValues(store, line, 'last', { beyond: at }),
    next: await readEndOfValues(store, line, 'first', { beyond: at }),
    /** The SQL statement for all versions. */
    sql: versionsStatement({ from: at, to: at + 1 }, line),
  }
}

type Explained = Awaited<ReturnType<typeof readValue>>

/** The request that fetched or ended a version, and its run. */
function originHtml(name: string, origin: Origin, { dataset: line }: Explained, { words, link }: PageRequest): Html {
  const { explain: labels, common } = words
  const { run, job, command, target, status, ms, reason, entry, at } = origin
  const runName = labels.run(String(run), [...new Set([command, job])].join(' '))
  const details = [
    momentText(line.zone, at),
    ...(reason === null ? [] : [`${labels.reason}: ${words.runs.reasons[reason] ?? reason}`]),
    ...(entry === '' ? [] : [`${labels.entry}: ${entry}`]),
  ]
  return html`<dt>${name}</dt><dd><a href="${link(`/runs/${run}`)}">${runName}</a>, ${details.join(' · ')}</dd>
${target !== '' && html`<dt>${common.request}</dt><dd><code>GET ${target}</code> ${status ?? '–'}, ${ms} ms</dd>`}`
}

/** A version and its origin. */
function versionHtml(version: Explained['versions'][number], data: Explained, request: PageRequest): Html {
  const { explain: labels } = request.words
  const { zone, unit } = data.dataset
  const { origin, until, place, value, step } = version
  const when = [origin && labels.since(momentText(zone, origin.at)), until && labels.until(momentText(zone, until.at))]
  const text = value === null ? 'null' : numberText(value, request.locale)
  const heading = html`${until === null ? labels.now : labels.was} <data value="${value}">${text}</data> ${unit}`
  const foundPlace =
    typeof place === 'string' ? labels.places[place] : html`<code>${place.path}</code><pre>${place.fragment}</pre>`
  return html`<li class="version"><h2>${heading}</h2>
<p class="soft">${when.filter(Boolean).join(', ')} · ${labels.step} ${lengthText(step)}</p>
<dl>${origin && originHtml(labels.fetchedBy, origin, data, request)}${until && originHtml(labels.ended, until, data, request)}
<dt>${labels.place}</dt><dd>${foundPlace}</dd></dl></li>`
}

/** `/explain/600/3/AT`: the origin of a value. */
export const explainView = view({
  read: readValue,
  title({ dataset: line, at, versions }, { locale, words }) {
    const value = `${numberText(versions[0]?.value, locale)} ${line.unit ?? ''}`.trim()
    return `${words.common.pages.explain}: ${words.explain.title(value, timeText(line.zone, at))}`
  },
  show(data, request) {
    const { dataset: line, at, versions, confirmed } = data
    const { words, link, query } = request
    const { explain: labels, common } = words
    const { zone, path, geoId } = line
    const day = floorTo(zone, at, 'day')
    const kept = Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name).join(',')]))
    // Without a chart that led here, that of the day.
    const chart = query.size > 0 ? kept : rangeQuery(zone, { from: day, to: addUnits(zone, day, 'day', 1) })
    const other = (to: Instant | null, rel: string, text: string): HtmlPart =>
      to !== null && html`<a rel="${rel}" href="${link(`/explain/${path}/${geoId}/${to}`, kept)}">${text}</a> · `
    const back = html`<a href="${link(`/series/${path}`, { ...chart, geo: geoId })}">${common.back}</a>`
    const geoName = html`<bdi>${line.geo.name ?? geoId}</bdi>`
    return html`<p><bdi>${line.indicator} ${line.name}</bdi> · ${geoName} · ${timeText(zone, at)}</p>
<p>${other(data.previous, 'prev', labels.previous)}${other(data.next, 'next', labels.next)}${back}</p>
${versions[0]!.until !== null && html`<p class="bad">${labels.withdrawn}</p>`}
<ol class="versions">${versions.map((version) => versionHtml(version, data, request))}</ol>
${confirmed && html`<p>${labels.confirmed(momentText(zone, confirmed.at))}</p>`}
<h2>${common.same}</h2><pre>${data.sql}</pre>`
  },
})
