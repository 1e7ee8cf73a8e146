import { html } from '../../html.ts'
import { NotFound, view } from '../../page.ts'
import { readWidget, readWidgets } from '../../queries/texts/widgets.ts'
import { command, facts, scrolled, serviceText } from '../elements.ts'
import { countText } from '../numbers.ts'
import { timeElement } from '../times.ts'

type WidgetList = Awaited<ReturnType<typeof readWidgets>>
type One = NonNullable<Awaited<ReturnType<typeof readWidget>>>

/** `/widgets`: what the operator's own site shows. */
export const widgetsView = view<WidgetList>({
  read: ({ store, languages }) => readWidgets(store, languages),
  show({ widgets: rows }, request) {
    const { words, link } = request
    const { archives: own, common } = words
    if (rows.length === 0) return html`<p>${own.noWidgets} ${own.noneHint}</p>${command('widgets: [{}]')}`
    return html`<p>${own.widgetsAbout}</p>
${scrolled(
  common.pages.widgets,
  html`<table>
<thead><tr><th scope="col">${own.widget}</th><th scope="col">${own.slug}</th><th scope="col">${own.type}</th></tr></thead>
<tbody>
${rows.map(
  (one) =>
    html`<tr><th scope="row"><a href="${link(`/widgets/${one.id}`)}">${serviceText(one.name, one.locale) ?? one.id}</a>${one.subtitle && html` ${serviceText(one.subtitle, one.locale)}`}</th><td>${serviceText(one.slug)}</td><td>${serviceText(one.type)}${one.withdrawn_at !== null && html` ${own.withdrawn} ${timeElement(request, one.withdrawn_at)}`}</td></tr>\n`,
)}</tbody></table>`,
)}`
  },
})

/** `/widgets/7`: one widget with all its fields. */
export const widgetView = view<One>({
  async read({ store, params: { id = '' }, languages }) {
    const found = /^\d{1,15}$/.test(id) ? await readWidget(store, Number(id), languages) : null
    if (!found) throw new NotFound(`widget ${id}`)
    return found
  },
  title: ({ name, widget: { id } }, { words }) => name?.trim() || `${words.archives.widget} ${id}`,
  show({ widget: one, subtitle, locale, list, single }, request) {
    const { archives: own } = request.words
    const payload = (title: string, part: One['list']) =>
      part !== null &&
      html`<h2>${title}</h2>${part.cut && html`<p>${own.cut(part.letters)}</p>`}<pre dir="ltr" tabindex="0">${part.text}</pre>`
    return html`${subtitle && html`<p>${serviceText(subtitle, locale)}</p>`}
${facts([
  [own.slug, serviceText(one.slug)],
  [own.type, serviceText(one.type)],
  [own.firstSeen, timeElement(request, one.first_seen_at)],
  [own.withdrawn, timeElement(request, one.withdrawn_at)],
  ['ID', countText(request, one.id)],
])}
${payload(own.single, single)}
${payload(own.list, list)}`
  },
})
