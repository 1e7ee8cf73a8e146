import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { isNeeded, type ParameterType, parameterType, type Recipe } from '../../reports/recipes/recipe.ts'
import { InputError } from '../../util/errors.ts'
import { withoutAccents } from '../../util/text.ts'
import { floorToSecond, formatMillis, HOUR } from '../../util/time/instant.ts'
import { addLocal, atLocal, formatLocal, localDate } from '../../util/time/zone.ts'
import { serviceText, suggestionList } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { NotFound, type PageRequest } from '../page.ts'
import { indicatorNames, namedGeos } from '../queries/names.ts'
import { findNamedSeries, findSeriesByPath } from '../queries/seriesPaths.ts'

/* The parameters of a statement: their values, and the fields of the form. Those of a recipe have types. */

/** The beginning of the names of fields for parameters. */
export const PARAMETER_PREFIX = 'p.'
const MAX_OFFERED = 200

export interface Parameter {
  readonly name: string
  readonly value: string
  readonly type: ParameterType
}

/** An id that a field offers, with its name. */
interface Choice {
  readonly id: number
  readonly name: string | null
}

/** What the fields offer. */
export type Choices = Readonly<Record<'geo' | 'indicator', readonly Choice[]>>

/** A time of a form, without an offset, in UTC; any other text as it is. */
function readInstant(text: string, zone: string): string {
  const [, day, hour = '0', minute = '0'] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d):(\d\d))?$/.exec(text) ?? []
  const at = day === undefined ? undefined : atLocal(zone, day, Number(hour) * HOUR + Number(minute) * 60)
  if (at !== undefined) return formatMillis(at * 1000)
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? text : formatMillis(moment)
}

/** Reads the parameters of an address. The range of a recipe begins a year ago by default. */
export function readParameters(
  { query, service: { timeZone }, now }: PageRequest,
  names: readonly string[],
  recipe: Recipe | undefined,
): Parameter[] {
  const yearAgo = localDate(timeZone, addLocal(timeZone, now, 'year', -1))
  return names.map((name) => {
    const isOfRecipe = recipe !== undefined && Object.hasOwn(recipe.parameters, name)
    const type = isOfRecipe ? parameterType(recipe, name) : 'text'
    const usual = isOfRecipe && name === 'from' ? (recipe.parameters.from ?? yearAgo) : recipe?.parameters[name]
    const value = query.get(`${PARAMETER_PREFIX}${name}`)?.trim() ?? String(usual ?? '')
    return { name, type, value: type === 'instant' && value !== '' ? readInstant(value, timeZone) : value }
  })
}

/** Finds the indicator that a text names. */
async function findIndicator(request: PageRequest, text: string): Promise<string> {
  const { path } = await findNamedSeries(request, text)
  return String((await findSeriesByPath(request, path)).indicator_id)
}

const noMatch = ({ words }: PageRequest, text: string): InputError =>
  new InputError(words.sql.noName(text), { code: 'no-name' })

/** Finds the geo that a text names: one that it equals, else the only one that begins with it. */
function findGeo(request: PageRequest, geos: readonly Choice[], text: string): string {
  const wanted = withoutAccents(text)
  const plain = geos.map(({ id, name }) => ({ id, name: withoutAccents(name ?? '') }))
  const equal = plain.filter(({ name }) => name === wanted)
  const found = equal.length > 0 ? equal : plain.filter(({ name }) => name.startsWith(wanted))
  if (found.length !== 1) throw noMatch(request, text)
  return String(found[0]!.id)
}

/** Replaces names of indicators and geos by their ids. Throws InputError if one matches none or several. */
export async function resolveNames(request: PageRequest, parameters: readonly Parameter[], { geo }: Choices) {
  const isId = (text: string): boolean => /^\d*$/.test(text)
  const resolve = async ({ type, value }: Parameter): Promise<string> => {
    if (type === 'geo') return isId(value) ? value : findGeo(request, geo, value)
    if (type === 'indicator') return isId(value) ? value : findIndicator(request, value)
    if (type !== 'indicators') return value
    const parts = value.split(',').map((part) => part.trim())
    return (await Promise.all(parts.map((part) => (isId(part) ? part : findIndicator(request, part))))).join(',')
  }
  return Promise.all(
    parameters.map(async (parameter) => ({
      ...parameter,
      value: await resolve(parameter).catch((error) => {
        throw error instanceof NotFound ? noMatch(request, parameter.value) : error
      }),
    })),
  )
}

/** Reads what the fields offer: geos and indicators with values. */
export async function readChoices(request: PageRequest, parameters: readonly Parameter[]): Promise<Choices> {
  const { kysely } = request.store
  const needs = (kind: 'geo' | 'indicator'): boolean =>
    parameters.some(({ name, type }) => name === kind || type.startsWith(kind))
  const geos = kysely.selectFrom('series_geo').select('geo_id').distinct().orderBy('geo_id')
  const series = kysely
    .selectFrom('series')
    .select('indicator_id')
    .distinct()
    .where('kind', '=', ENTRY_ROUTES.series)
    .orderBy('indicator_id')
    .limit(MAX_OFFERED)
  const geoIds = needs('geo') ? (await geos.execute()).map(({ geo_id }) => geo_id) : []
  const indicatorIds = needs('indicator') ? (await series.execute()).map(({ indicator_id }) => indicator_id) : []
  const names = await indicatorNames(request, indicatorIds)
  return {
    geo: await namedGeos(request, geoIds),
    indicator: indicatorIds.map((id) => ({ id, name: names.get(`${ENTRY_ROUTES.series} ${id}`) ?? null })),
  }
}

/** The attributes of the field of a type, and its value. */
function fieldKind({ type, value }: Parameter, zone: string): readonly [attributes: Html, value: string] {
  const text = html`type="text" size="14"`
  if (type === 'day') return [/^(\d{4}-\d\d-\d\d)?$/.test(value) ? html`type="date"` : text, value]
  if (type === 'instant') {
    // The field has whole minutes.
    if (value === '') return [html`type="datetime-local"`, '']
    if (!/:00\.000Z$/.test(value)) return [text, value]
    return [html`type="datetime-local"`, formatLocal(zone, floorToSecond(value)).slice(0, 16)]
  }
  if (type === 'number') return [html`type="text" inputmode="decimal" size="8"`, value]
  return [text, value]
}

/** The fields of parameters, with the names of their ids. */
export function parameterFields(
  parameters: readonly Parameter[],
  choices: Choices,
  recipe: Recipe | undefined,
  request: PageRequest,
): HtmlPart {
  const { sql: labels } = request.words
  const { timeZone } = request.service
  if (parameters.length === 0) return null
  const isGeo = ({ name, type }: Parameter): boolean => name === 'geo' || type === 'geo'
  const isIndicator = ({ name, type }: Parameter): boolean => name === 'indicator' || type.startsWith('indicator')
  const nameOf = ({ type, value }: Parameter): HtmlPart => {
    if (type !== 'geo' && type !== 'indicator' && type !== 'indicators') return null
    const offered = choices[type === 'geo' ? 'geo' : 'indicator']
    const names = value.split(',').flatMap((id) => offered.find((choice) => String(choice.id) === id)?.name ?? [])
    return names.length > 0 && html`<small class="soft">${serviceText(names.join(', '))}</small>`
  }
  const field = (parameter: Parameter): Html => {
    const { name } = parameter
    const [attributes, value] = fieldKind(parameter, timeZone)
    const isNamed = isIndicator(parameter)
    return html`<span class="pick"><label for="${PARAMETER_PREFIX}${name}"><code>${name}</code></label> <input id="${PARAMETER_PREFIX}${name}" name="${PARAMETER_PREFIX}${name}" value="${value}" ${attributes} autocomplete="off"${isGeo(parameter) && html` list="geos"`}${isNamed && html` data-pick="indicator"`}${recipe && isNeeded(recipe, name) && html` required`}>${isNamed && suggestionList(`suggested-${name}`, request)} ${nameOf(parameter)}</span> `
  }
  return html`<fieldset><legend>${labels.parameters}</legend><p class="soft">${labels.parameterHint}</p>${parameters.map(field)}${choices.geo.length > 0 && html`<datalist id="geos">${choices.geo.slice(0, MAX_OFFERED).map(({ id, name }) => html`<option value="${id}">${name}</option>`)}</datalist>`}</fieldset>`
}
