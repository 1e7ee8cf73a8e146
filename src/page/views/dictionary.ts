import { type Html, html } from '../html.ts'
import { NotFound, type PageRequest, view } from '../page.ts'
import { type ObjectRow, objectOf, objects } from '../queries/dictionary.ts'
import { scrolled } from './elements.ts'

const objectList = (title: string, rows: readonly ObjectRow[], { link }: PageRequest): Html => html`<h2>${title}</h2>
<ul class="found" lang="en">${rows.map(({ name, meaning }) => html`<li><a href="${link(`/dictionary/${name}`)}"><code>${name}</code></a> ${meaning}</li>\n`)}</ul>`

/** `/dictionary`: tables, views and columns. */
export const dictionaryView = view({
  read: async () => ({ objects: objects() }),
  show({ objects: rows }, request) {
    const { sql: own } = request.words
    return html`<p>${own.dictionaryAbout}</p>
${objectList(
  own.views,
  rows.filter(({ kind }) => kind === 'view'),
  request,
)}
${objectList(
  own.tables,
  rows.filter(({ kind }) => kind === 'table'),
  request,
)}`
  },
})

/** `/dictionary/observations`: what the columns of a table or view mean. */
export const dictionaryEntryView = view({
  async read({ params: { name = '' } }) {
    const found = objectOf(name)
    if (!found) throw new NotFound(`table ${name}`)
    return found
  },
  title: ({ name }) => name,
  show({ name, meaning, columns }, { words, link, live }) {
    const { sql: own } = words
    return html`<p lang="en">${meaning}</p>
${live && html`<p><a href="${link('/sql', { sql: `select * from ${name} limit 20` })}">${own.ask}</a></p>`}
${scrolled(
  name,
  html`<table>
<thead><tr><th scope="col">${own.column}</th><th scope="col">${own.type}</th><th scope="col">${own.unit}</th><th scope="col">${own.meaning}</th></tr></thead>
<tbody lang="en">
${columns.map((one) => html`<tr><th scope="row"><code>${one.name}</code></th><td>${one.type}</td><td>${one.unit}</td><td>${one.meaning}</td></tr>\n`)}</tbody></table>`,
)}`
  },
})
