import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { isObject, toList } from '../../util/json.ts'
import { command, facts, lines, numberedPager, serviceText, table, timeElement } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, paginate, view, wholeNumber } from '../page.ts'
import { indicatorNames, inLanguage } from '../queries/names.ts'

/** Widgets on one page. */
const WIDGETS_A_PAGE = 50
/** The type of widgets that show offers. */
const OFFER_TYPE = 'offer'

/** Reads one page of the list of widgets, with their texts in one language each. */
async function readWidgets(request: PageRequest) {
  const { kysely } = request.store
  const all = await kysely.selectFrom('widget').selectAll().orderBy('id').execute()
  const texts = await kysely
    .selectFrom('widget_text')
    .select(['id', 'locale', 'name', 'subtitle'])
    .orderBy('locale')
    .execute()
  const byId = Map.groupBy(texts, ({ id }) => id)
  const { page, pages, shown } = paginate(request, all, WIDGETS_A_PAGE)
  const widgets = shown.map((widget) => {
    const {
      name = null,
      subtitle = null,
      locale = null,
    } = inLanguage(byId.get(widget.id) ?? [], request.languages) ?? {}
    return { ...widget, name, subtitle, locale }
  })
  return { widgets, page, pages }
}

/** `/widgets`: the widgets of the service's site. */
export const widgetsView = view({
  read: readWidgets,
  show({ widgets, page, pages }, request) {
    const { widgets: labels, common, texts } = request.words
    if (widgets.length === 0)
      return html`<p>${texts.none} ${common.noneHint}</p>${command('widgets: { list: true, window: { last: 1d } }')}`
    return html`<p>${labels.about}</p>
${table(common.pages.widgets, widgets, [
  [
    common.name,
    ({ id, name, slug, locale }) =>
      html`<a href="${request.link(`/widgets/${id}`)}">${serviceText(name, locale) ?? serviceText(slug) ?? id}</a>`,
  ],
  [labels.subtitle, ({ subtitle, locale }) => serviceText(subtitle, locale)],
  [common.type, ({ type }) => serviceText(type)],
  [common.firstSeen, ({ first_seen_at }) => timeElement(request, first_seen_at)],
  widgets.some(({ withdrawn_at }) => withdrawn_at !== null) && [
    common.withdrawn,
    ({ withdrawn_at }) => timeElement(request, withdrawn_at),
  ],
])}
${numberedPager(request, page, pages)}`
  },
})

/** The fields of a stored JSON object; none of anything else. */
function fieldsIn(json: string | null): Readonly<Record<string, unknown>> {
  const fields: unknown = json === null ? null : JSON.parse(json)
  return isObject(fields) ? fields : {}
}

/** The numbers of the indicators in a widget, as numbers or objects. */
const shownIndicators = ({ indicators }: Readonly<Record<string, unknown>>): number[] =>
  toList(indicators)
    .map((one) => (isObject(one) ? one.id : one))
    .filter((id) => typeof id === 'number')

/** Reads a widget with its texts in every language, and the indicators that it shows. */
async function readWidget(request: PageRequest) {
  const { store, params, languages } = request
  const id = wholeNumber(params.id)
  if (id === null) return null
  const widget = await store.kysely.selectFrom('widget').selectAll().where('id', '=', id).executeTakeFirst()
  if (!widget) return null
  const rows = await store.kysely.selectFrom('widget_text').selectAll().where('id', '=', id).orderBy('locale').execute()
  const { plainText } = await import('../../transform/plain.ts')
  const texts = rows.map(({ payload_v1, payload_v2, locale, name, subtitle }) => {
    // A single widget has more fields than the list.
    const fields = { ...fieldsIn(payload_v1), ...fieldsIn(payload_v2) }
    const { description } = fields
    return { locale, name, subtitle, text: typeof description === 'string' ? plainText(description) : null, fields }
  })
  const ids = [...new Set(texts.flatMap(({ fields }) => shownIndicators(fields)))]
  const names = await indicatorNames(request, ids)
  const kinds = [ENTRY_ROUTES.series, ENTRY_ROUTES.offers]
  const ordered = widget.type?.toLowerCase() === OFFER_TYPE ? kinds.toReversed() : kinds
  const indicators = ids.map((indicator) => {
    const kind = ordered.find((one) => names.has(`${one} ${indicator}`)) ?? null
    return { id: indicator, kind, name: names.get(`${kind} ${indicator}`) ?? null }
  })
  const { name = null } = inLanguage(texts, languages) ?? {}
  return { widget, name, texts, indicators }
}

type WidgetPage = NonNullable<Awaited<ReturnType<typeof readWidget>>>

const indicatorLink = ({ id, kind, name }: WidgetPage['indicators'][number], { link }: PageRequest): HtmlPart =>
  kind === null ? html`${id} ` : html`<a href="${link(`/texts/${kind}/${id}`)}">${id} ${serviceText(name)}</a> `

/** A widget in one language, as stored. */
function textSection(
  { locale, name, subtitle, text, fields }: WidgetPage['texts'][number],
  request: PageRequest,
): Html {
  const { widgets: labels } = request.words
  const title = serviceText([name, subtitle].filter(Boolean).join(' · '), locale)
  const heading = html`<h2 id="text-${locale}">${title} <span class="soft">(${locale})</span></h2>`
  return html`<section aria-labelledby="text-${locale}">${heading}
${text === null ? html`<p class="soft">${request.words.texts.empty}</p>` : lines(text, locale)}
<details><summary>${labels.stored}</summary><pre>${JSON.stringify(fields, null, 1)}</pre></details></section>`
}

/** `/widgets/3`: the texts of a widget. */
export const widgetView = view({
  read: readWidget,
  title: ({ name, widget: { id, slug } }, { words }) => name ?? slug ?? `${words.common.pages.widget} ${id}`,
  show({ widget, texts, indicators }, request) {
    const { widgets: labels, common } = request.words
    return html`<p class="soft"><a href="${request.link('/widgets')}">${common.pages.widgets}</a> · ${widget.id}</p>
${facts([
  [labels.slug, serviceText(widget.slug)],
  [common.type, serviceText(widget.type)],
  [common.firstSeen, timeElement(request, widget.first_seen_at)],
  [common.withdrawn, timeElement(request, widget.withdrawn_at)],
  [
    labels.shows,
    indicators.length > 0 &&
      html`<ul class="found">${indicators.map((one) => html`<li>${indicatorLink(one, request)}</li>\n`)}</ul>`,
  ],
])}
${texts.map((one) => textSection(one, request))}`
  },
})
