import { expect, test } from 'vitest'
import { summaryJson, summaryText } from '../../src/cli/text/summary.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const DAY = 86_400_000

/** Counts of rows in a reply: new, unchanged, revised, withdrawn, rejected, outside. */
type Counted = readonly [number, number, number, number, number, number]
const NAMES = ['new', 'unchanged', 'revised', 'withdrawn', 'rejected'] as const

/** Returns the counters of all runs so far in the metrics. */
async function metrics(store: Store): Promise<number[]> {
  const text = await prometheusText(store)
  return NAMES.map((what) =>
    Number(new RegExp(`^indicator_sync_rows_total\\{what="${what}"\\} (\\d+)$`, 'm').exec(text)![1]),
  )
}

/** A kind of reply: its job, and nightly replies with the counts of their rows. */
interface Shape {
  readonly job: string
  readonly nights: readonly (readonly [answer: object, counted: Counted])[]
}

const HOURS = 'window: { from: 2025-10-01, to: 2025-10-02 }, lookback: 2y, refresh: 1h'
const value = (hour: number, of: number | string, geo = 3) => ({
  value: of,
  datetime: `2025-10-01T0${hour}:00:00.000+02:00`,
  geo_id: geo,
  geo_name: `G${geo}`,
})
const series = (name: string, values: readonly object[], more: object = {}) => ({
  indicator: { id: 600, name, step_type: 'step', tiempo: [{ id: 4 }], geos: [], values, ...more },
})
const OUTSIDE = { value: 1, datetime: '2025-10-05T00:00:00.000+02:00', geo_id: 3, geo_name: 'G3' }
/** For both kinds of series: the indicator, its text, a geo, its name, and values. */
const SERIES: Shape['nights'] = [
  [series('A', [value(0, 1), value(1, 2)]), [6, 0, 0, 0, 0, 0]],
  // Duplicates count once.
  [series('A', [value(0, 1), value(0, 1), value(1, 2), OUTSIDE]), [0, 6, 0, 0, 0, 1]],
  [series('B', [value(0, 1), value(1, 3), value(2, 4)]), [1, 4, 2, 0, 0, 0]],
  [series('B', [value(0, 1), value(2, 4), value(2, 4, 4)], { composited: true }), [4, 5, 0, 1, 0, 0]],
  [series('B', [value(0, 1), value(2, 'x'), value(2, 4, 4)], { step_type: 'linear' }), [0, 7, 1, 0, 1, 0]],
]

const term = { id_taxonomy_term: 7, name: 'term', vocabulary_id: 9 }
const vocabulary = { id_vocabulary: 9, name: 'vocabulary' }
const media = { id: 5, title: 'M', download: '/m' }
const page = (id: number, title: string, more: object = {}) => ({
  id,
  title,
  slug: `s${id}`,
  body: '<p>B</p>',
  media: [],
  taxonomy_terms: [],
  vocabularies: [],
  ...more,
})
const filed = { media: [media], taxonomy_terms: [term], vocabularies: [vocabulary] }
/** For all kinds of content: item and text; media, links, linked terms and vocabularies, and their names. */
const PAGES: Shape['nights'] = [
  [{ contents: [page(1, 'a', filed), page(2, 'b')] }, [11, 0, 0, 0, 0, 0]],
  [{ contents: [page(1, 'a', filed), page(2, 'b')] }, [0, 11, 0, 0, 0, 0]],
  // A title and the name of a medium change, a link and an item disappear, an item appears.
  [
    { contents: [page(1, 'A', { ...filed, media: [{ ...media, title: 'N' }], taxonomy_terms: [] }), page(3, 'c')] },
    [2, 4, 2, 2, 0, 0],
  ],
  // The unreadable row may be the missing item.
  [{ contents: [page(3, 'c', { sticky: true }), { title: 'without a number' }] }, [1, 1, 0, 0, 1, 0]],
  [{ contents: [page(3, 'c', { sticky: false })] }, [0, 1, 1, 1, 0, 0]],
]

const archive = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  horizon: 'D',
  archive_type: 'zip',
  date: { date: '2025-11-03' },
  date_times: ['2025-11-03'],
  publication_date: ['2025-11-03'],
  download: { name: 'f', url: '/f' },
  taxonomy_terms: [],
  vocabularies: [],
  ...more,
})
/**
 * The archive, its text and edition; links, terms and vocabularies as for content. Unlisted archives are not withdrawn.
 */
const ARCHIVES: Shape['nights'] = [
  [{ archives: [archive(1, 'a', filed), archive(2, 'b')] }, [12, 0, 0, 0, 0, 0]],
  [{ archives: [archive(1, 'a', filed), archive(2, 'b')] }, [0, 12, 0, 0, 0, 0]],
  [
    {
      archives: [archive(1, 'A', { ...filed, vocabularies: [], download: { name: 'f', url: '/g' } }), archive(3, 'c')],
    },
    [3, 5, 2, 1, 0, 0],
  ],
  [{ archives: [archive(3, 'c', { horizon: 'M' }), { name: 'without a number' }] }, [0, 2, 1, 0, 1, 0]],
]

const widget = (id: number, name: string, more: object = {}) => ({
  id_widget: id,
  id: `w${id}`,
  type: 'Widget',
  name,
  ...more,
})
const WIDGETS: Shape['nights'] = [
  [{ widgets: [widget(1, 'a'), widget(2, 'b')] }, [4, 0, 0, 0, 0, 0]],
  [{ widgets: [widget(1, 'a'), widget(2, 'b')] }, [0, 4, 0, 0, 0, 0]],
  [{ widgets: [widget(1, 'A'), widget(3, 'c')] }, [2, 1, 1, 1, 0, 0]],
  [{ widgets: [widget(3, 'c', { type: 'Chart' }), { name: 'without a number' }] }, [0, 0, 2, 0, 1, 0]],
]

const listed = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  short_name: 's',
  description: '',
  ...more,
})
const CATALOGUE: Shape['nights'] = [
  [{ indicators: [listed(1, 'a'), listed(2, 'b')] }, [4, 0, 0, 0, 0, 0]],
  [{ indicators: [listed(1, 'a'), listed(2, 'b')] }, [0, 4, 0, 0, 0, 0]],
  [{ indicators: [listed(1, 'A'), listed(3, 'c')] }, [2, 1, 1, 1, 0, 0]],
  [{ indicators: [listed(3, 'c', { tags: ['x'] }), { name: 'without a number' }] }, [1, 1, 0, 0, 1, 0]],
  [{ indicators: [listed(3, 'c', { tags: ['y'] })] }, [0, 1, 1, 1, 0, 0]],
]

const content = (kind: string) => `content:\n  - { kinds: [${kind}], refresh: 1h }`
const SHAPES: Readonly<Record<string, Shape>> = {
  indicators: { job: `series:\n  - { indicators: [600], ${HOURS} }`, nights: SERIES },
  'offer indicators': { job: `offers:\n  - { indicators: [600], ${HOURS} }`, nights: SERIES },
  news: { job: content('news'), nights: PAGES },
  documentations: { job: content('documentations'), nights: PAGES },
  'static pages': { job: content('static_pages'), nights: PAGES },
  glossaries: { job: content('glossaries'), nights: PAGES },
  archives: {
    job: 'archives:\n  - { window: { from: 2025-11-03, to: 2025-11-04 }, lookback: 9d, refresh: 1h }',
    nights: ARCHIVES,
  },
  widgets: { job: 'widgets: { list: true, refresh: 1h }', nights: WIDGETS },
  'one widget': {
    job: 'widgets: { names: [w1], refresh: 1h }',
    nights: [
      [{ widget: widget(1, 'a') }, [2, 0, 0, 0, 0, 0]],
      [{ widget: widget(1, 'a') }, [0, 2, 0, 0, 0, 0]],
      [{ widget: widget(1, 'A') }, [0, 1, 1, 0, 0, 0]],
    ],
  },
  'the catalogue': { job: 'catalogue: { refresh: 1h }', nights: CATALOGUE },
}

test.each(Object.entries(SHAPES))('all statistics count the rows of %s equally', async (_name, { job, nights }) => {
  const store = await tempStore()
  let night = 0
  const server = await serve((_request, response) => json(response, nights[night]![0]))
  let before = await metrics(store)
  const accounts: unknown[] = []
  for (; night < nights.length; night++) {
    const summary = await runJob(store, server, job, { now: NOW + night * DAY })
    const countsIn = (table: string, where: string) =>
      Object.values(
        store.all(`select ${NAMES.map((name) => `sum(rows_${name}) as ${name}`)} from ${table} ${where}`)[0] as object,
      )
    const run = `run_id = ${summary.runId}`
    const all = await metrics(store)
    const machine = summaryJson(summary) as Record<string, number>
    const words = summaryText(summary)
    const counted = NAMES.map((name) =>
      Number(new RegExp(`(\\d+) ${name === 'rejected' ? 'invalid rows? or responses?' : name}`).exec(words)?.[1] ?? 0),
    )
    const outside = store.get(`select sum(rows_outside) from _fetch where ${run}`)
    accounts.push({
      fetch: [...countsIn('_fetch', `where ${run}`), outside],
      run: countsIn('_run', `where id = ${summary.runId}`),
      metrics: all.map((now, i) => now - before[i]!),
      summary: NAMES.map((name) => summary.counts[`rows_${name}`]),
      json: NAMES.map((name) => machine[`rows_${name}`]),
      text: counted,
    })
    before = all
  }
  expect(accounts).toEqual(
    nights.map(([, counted]) => {
      const five = counted.slice(0, 5)
      return { fetch: counted, run: five, metrics: five, summary: five, json: five, text: five }
    }),
  )
})
