import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { isNeeded, type ParameterType, parameterType, type Recipe } from '../../reports/recipes/recipe.ts'
import { InputError } from '../../util/errors.ts'
import { withoutAccents } from '../../util/text.ts'
import { floorToSecond, formatMillis, HOUR } from '../../util/time/instant.ts'
import { addLocal, atLocal, formatLocal, localDate } from '../../util/time/zone.ts'
import { serviceText, suggestionList } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { NotFound, type PageRequest, wholeNumber } from '../page.ts'
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

/** A geo with its name. */
export interface NamedGeo {
  readonly id: number
  readonly name: string | null
}

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
function findGeo(request: PageRequest, geos: readonly NamedGeo[], text: string): string {
  const plainText = withoutAccents(text)
  const plain = geos.map(({ id, name }) => ({ id, name: withoutAccents(name ?? '') }))
  const equal = plain.filter(({ name }) => name === plainText)
  const found = equal.length > 0 ? equal : plain.filter(({ name }) => name.startsWith(plainText))
  if (found.length !== 1) throw noMatch(request, text)
  return String(found[0]!.id)
}

/** Replaces names of indicators and geos by their ids. Throws InputError if one matches none or several. */
export async function resolveNames(
  request: PageRequest,
  parameters: readonly Parameter[],
  geos: readonly NamedGeo[],
): Promise<Parameter[]> {
  const isId = (text: string): boolean => /^\d*$/.test(text)
  const resolve = async ({ type, value }: Parameter): Promise<string> => {
    if (type === 'geo') return isId(value) ? value : findGeo(request, geos, value)
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

const isGeo = ({ name, type }: Parameter): boolean => name === 'geo' || type === 'geo'
const isIndicator = ({ name, type }: Parameter): boolean => name === 'indicator' || type.startsWith('indicator')
const idsOf = ({ value }: Parameter): number[] => value.split(',').flatMap((id) => wholeNumber(id) ?? [])

/** Reads the geos with values, if a parameter needs them. */
export async function readGeos(request: PageRequest, parameters: readonly Parameter[]): Promise<NamedGeo[]> {
  if (!parameters.some(isGeo)) return []
  const rows = await request.store.kysely
    .selectFrom('series_geo')
    .select('geo_id')
    .distinct()
    .orderBy('geo_id')
    .execute()
  return namedGeos(
    request,
    rows.map(({ geo_id }) => geo_id),
  )
}

/** Reads the names of the indicators that parameters have, by id. */
export async function readIndicators(
  request: PageRequest,
  parameters: readonly Parameter[],
): Promise<ReadonlyMap<number, string>> {
  const ids = parameters.filter(isIndicator).flatMap(idsOf)
  if (ids.length === 0) return new Map()
  const names = await indicatorNames(request, ids)
  return new Map(
    ids.flatMap((id) => {
      const name = names.get(`${ENTRY_ROUTES.series} ${id}`)
      return name === undefined ? [] : [[id, name]]
    }),
  )
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
  geos: readonly NamedGeo[],
  indicators: ReadonlyMap<number, string>,
  recipe: Recipe | undefined,
  request: PageRequest,
): HtmlPart {
  const { sql: labels } = request.words
  const { timeZone } = request.service
  if (parameters.length === 0) return null
  const geoNames = new Map(geos.flatMap(({ id, name }) => (name === null ? [] : [[id, name]])))
  // A statement of one's own may mean something else by a parameter of that name.
  const nameOf = (parameter: Parameter): HtmlPart => {
    if (parameter.type === 'text') return null
    const byId = isIndicator(parameter) ? indicators : geoNames
    const names = idsOf(parameter).flatMap((id) => byId.get(id) ?? [])
    return names.length > 0 && html`<small class="soft">${serviceText(names.join(', '))}</small>`
  }
  const field = (parameter: Parameter): Html => {
    const { name } = parameter
    const id = `${PARAMETER_PREFIX}${name}`
    const [typeAttributes, value] = fieldKind(parameter, timeZone)
    const isSuggested = isIndicator(parameter)
    const attributes: HtmlPart[] = [
      html` id="${id}" name="${id}" value="${value}" ${typeAttributes} autocomplete="off"`,
      isGeo(parameter) && html` list="geos"`,
      isSuggested && html` data-pick="indicator"`,
      recipe && isNeeded(recipe, name) && html` required`,
    ]
    const label = html`<label for="${id}"><code>${name}</code></label>`
    const suggestions = isSuggested && suggestionList(`suggested-${name}`, request)
    return html`<span class="pick">${label} <input${attributes}>${suggestions} ${nameOf(parameter)}</span> `
  }
  const legend = html`<legend>${labels.parameters}</legend><p class="soft">${labels.parameterHint}</p>`
  const offered = geos.slice(0, MAX_OFFERED).map(({ id, name }) => html`<option value="${id}">${name}</option>`)
  const geoList = geos.length > 0 && html`<datalist id="geos">${offered}</datalist>`
  return html`<fieldset>${legend}${parameters.map(field)}${geoList}</fieldset>`
}
