import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writeLanguage } from '../../src/db/queries/referenceTables.ts'
import { searchItems } from '../../src/reports/searchItems.ts'
import { SERVICES } from '../../src/service/services.ts'
import { dump } from '../support/dump.ts'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const SERIES =
  'series:\n  - { indicators: [600], window: { from: 2025-01-01, to: 2025-01-02 }, lookback: 2y, refresh: 1h }'
const full = {
  id: 600,
  name: 'Precio',
  short_name: 'P',
  description: '<p>Uno</p>',
  step_type: 'step',
  composited: true,
  disaggregated: false,
  magnitud: [{ id: 23, name: 'Precio' }],
  tiempo: [{ id: 4, name: 'Hora' }],
  geos: [{ geo_id: 3, geo_name: 'España' }],
  colour: 'green',
  values: [{ value: 1, datetime: '2025-01-01T00:00:00.000+01:00', geo_id: 3, geo_name: 'España' }],
}
const stored = (store: Store) => [
  store.all('select step_type, composited, disaggregated, magnitude_id, magnitude, payload from indicator'),
  store.all('select locale, name, short_name, description, description_text from indicator_text'),
  store.all('select * from geo_text'),
]

/** Runs a job each night with the next reply. */
async function nights(replies: readonly object[], check: (store: Store, night: number) => void) {
  const store = await tempStore()
  let night = 0
  const server = await serve((_request, response) => json(response, replies[night]))
  for (; night < replies.length; night++) {
    await runJob(store, server, SERIES, { now: NOW + night * 86_400_000 })
    check(store, night)
  }
}

describe('absent, null and empty fields', () => {
  test('fields that a reply omits remain stored', async () => {
    const before: unknown[] = []
    await nights(
      [{ indicator: full }, { indicator: { id: 600, values: [] } }, { indicator: { id: 600, values: full.values } }],
      (store, night) => {
        if (night === 0) before.push(...stored(store))
        else expect(stored(store)).toEqual(before)
        expect(store.get('select count(*) from observation')).toBe(1)
        expect(store.get('select count(*) from indicator_revision')).toBe(0)
      },
    )
  })

  test('a name that arrives after the first reply is not a revision', async () => {
    const named = { ...full, description: undefined }
    await nights([{ indicator: { id: 600, values: [] } }, { indicator: named }], (store, night) => {
      expect(store.all('select name from indicator_text')).toEqual(night === 0 ? [] : [{ name: 'Precio' }])
      expect(store.get('select count(*) from indicator_revision')).toBe(0)
      expect(store.get('select sum(rows_revised) from _fetch')).toBe(0)
    })
  })

  test('a description that arrives later has no value in earlier versions', async () => {
    const store = await tempStore()
    const { description, ...named } = full
    const server = await serve((request, response) =>
      json(
        response,
        request.url!.includes('/indicators/') ? { indicator: named } : { indicators: [{ id: 600, description }] },
      ),
    )
    const counts = async (yaml: string, night: number) => {
      const { rows_new, rows_revised } = (await runJob(store, server, yaml, { now: NOW + night * 86_400_000 })).counts
      return { rows_new, rows_revised }
    }
    await counts(SERIES, 0)
    // The text gets its values; the row of the indicator exists and is equal.
    expect(await counts('catalogue: true', 1)).toEqual({ rows_new: 1, rows_revised: 0 })
    expect(await counts('catalogue: { refresh: 1h }', 2)).toEqual({ rows_new: 0, rows_revised: 0 })
    expect(store.get('select sum(rows_revised) from _run')).toBe(0)
    expect(
      store.all('select name, description, valid_from, valid_to from indicator_history order by valid_from'),
    ).toEqual([
      {
        name: 'Precio',
        description: null,
        valid_from: '2025-11-04T12:00:00.000Z',
        valid_to: '2025-11-05T12:00:00.000Z',
      },
      { name: 'Precio', description, valid_from: '2025-11-05T12:00:00.000Z', valid_to: null },
    ])
  })

  test('an item that is listed before it has a name has no version without texts', async () => {
    const titles = [undefined, 'Uno', 'Dos']
    const store = await tempStore()
    let night = 0
    const server = await serve((request, response) => {
      const title = titles[night]
      json(
        response,
        request.url!.includes('/indicators')
          ? { indicators: [{ id: 600, name: title }] }
          : { contents: [{ id: 1, title, updated_at: title }] },
      )
    })
    const counts: unknown[] = []
    for (; night < titles.length; night++) {
      await runJob(store, server, 'catalogue: { refresh: 1h }\ncontent:\n  - { kinds: [news], refresh: 1h }', {
        now: NOW + night * 86_400_000,
      })
      counts.push(...store.all('select rows_new, rows_unchanged, rows_revised from _fetch order by id desc limit 2'))
    }
    expect(counts).toEqual([
      ...Array(2).fill({ rows_new: 2, rows_unchanged: 0, rows_revised: 0 }),
      ...[
        { rows_new: 2, rows_unchanged: 0, rows_revised: 0 },
        { rows_new: 1, rows_unchanged: 1, rows_revised: 0 },
      ],
      ...[
        { rows_new: 0, rows_unchanged: 0, rows_revised: 2 },
        { rows_new: 0, rows_unchanged: 1, rows_revised: 1 },
      ],
    ])
    for (const [view, text] of [
      ['indicator_history', 'name'],
      ['content_history', 'title'],
    ])
      expect(store.all(`select ${text} as text, valid_to is null as current from ${view} order by valid_from`)).toEqual(
        [
          { text: 'Uno', current: 0 },
          { text: 'Dos', current: 1 },
        ],
      )
  })

  test('a version continues if only fields without history change', async () => {
    const store = await tempStore()
    let slug = 'uno'
    const server = await serve((_request, response) => json(response, { contents: [{ id: 1, title: 'T', slug }] }))
    const job = 'content:\n  - { kinds: [news], refresh: 1h }'
    await runJob(store, server, job, { now: NOW })
    slug = 'dos'
    await runJob(store, server, job, { now: NOW + 86_400_000 })
    expect(store.all('select title, valid_from, valid_to from content_history')).toEqual([
      { title: 'T', valid_from: '2025-11-04T12:00:00.000Z', valid_to: null },
    ])
    expect(store.get('select slug from content_text')).toBe('dos')
  })

  test('a null field is stored as null, and an empty one as an empty text', async () => {
    const gone = { ...full, step_type: null, short_name: '', description: null, composited: null }
    await nights([{ indicator: full }, { indicator: gone }], (store, night) => {
      if (night === 0) return
      expect(store.all('select step_type, composited, disaggregated from indicator')).toEqual([
        { step_type: null, composited: null, disaggregated: 0 },
      ])
      expect(store.all('select name, short_name, description, description_text from indicator_text')).toEqual([
        { name: 'Precio', short_name: '', description: null, description_text: null },
      ])
    })
  })

  test('fields without a column remain if a later reply has only others', async () => {
    const store = await tempStore()
    let fields: object = { one: 1, two: 2 }
    const dates = { date_times: [], publication_date: [], date: { date: '2025-11-03' } }
    let download: object | undefined = { name: 'f', url: '/f' }
    const server = await serve((request, response) =>
      json(
        response,
        request.url!.includes('archives')
          ? { archives: [{ id: 7, ...dates, download, ...fields }] }
          : { contents: [{ id: 1, media: [{ id: 2, ...fields }], ...fields }] },
      ),
    )
    const job = `content:\n  - { kinds: [news], refresh: 1h }
archives:\n  - { window: { from: 2025-11-03, to: 2025-11-04 }, lookback: 9d, refresh: 1h }`
    await runJob(store, server, job, { now: NOW })
    fields = { two: 3 }
    download = undefined
    await runJob(store, server, job, { now: NOW + 86_400_000 })
    for (const table of ['content_text', 'content_media', 'archive'])
      expect(store.get(`select payload from ${table}`), table).toBe('{"one":1,"two":3}')
    expect(store.get('select payload from archive_edition')).toBe(
      '{"date":{"date":"2025-11-03"},"download":{"name":"f","url":"/f"}}',
    )
  })

  test('items of content, archives and widgets keep fields that a later reply omits', async () => {
    const store = await tempStore()
    const item = {
      id: 1,
      title: 'T',
      slug: 's',
      summary: 'S',
      body: '<p>B</p>',
      published_at: '2025-01-01T00:00:00+01:00',
      sticky: true,
      permalink: '/p',
      taxonomy_terms: [{ id_taxonomy_term: 5, name: 'five', vocabulary_id: 9 }],
      media: [
        { id: 2, title: 'M', download: '/m', document_value_file_name: 'f', document_value_file_size: '5' },
        { id: 3, photo_value_file_name: 'p', photo_value_file_size: '0', document_value_file_name: null },
      ],
      vocabularies: [{ id_vocabulary: 9, name: 'nine' }],
      dummy: 1,
    }
    const archive = {
      id: 7,
      name: 'A',
      horizon: 'D',
      archive_type: 'zip',
      download: { name: 'f', url: '/f' },
      date: { date: '2025-11-03' },
      date_times: ['2025-11-03'],
      publication_date: ['2025-11-03'],
      taxonomy_terms: item.taxonomy_terms,
      other: 2,
    }
    const short = { id: 7, date: { date: '2025-11-03' }, date_times: ['2025-11-03'], publication_date: ['2025-11-03'] }
    let lacking = false
    const server = await serve((request, response) => {
      if (request.url!.includes('archives')) json(response, { archives: [lacking ? short : archive] })
      else if (request.url!.includes('widgets'))
        json(response, { widgets: [{ id_widget: 3, ...(lacking ? {} : { id: 'w', name: 'W', type: 'Widget' }) }] })
      else json(response, { contents: [lacking ? { id: 1, media: [{ id: 2 }, { id: 3 }] } : item] })
    })
    const yaml = `content:\n  - { kinds: [news], refresh: 1h }
archives:\n  - { window: { from: 2025-11-03, to: 2025-11-04 }, lookback: 9d, refresh: 1h }
widgets: { list: true, refresh: 1h }`
    const state = () => {
      const tables = dump(store, {
        content: ['last_seen_at'],
        content_text: ['last_seen_at'],
        widget: ['last_seen_at'],
        widget_text: ['last_seen_at', 'payload_v1'],
      })
      const whole =
        'content content_text content_term content_media content_vocabulary archive archive_text archive_term widget widget_text taxonomy_term'
      const editions = (tables.archive_edition as { url: string }[]).map(({ url }) => url)
      return [...whole.split(' ').map((name) => tables[name]), editions]
    }
    await runJob(store, server, yaml, { now: NOW })
    const before = state()
    expect(store.all('select url, file_name, file_size from content_media order by media_id')).toEqual([
      { url: '/m', file_name: 'f', file_size: 5 },
      { url: null, file_name: 'p', file_size: 0 },
    ])
    lacking = true
    await runJob(store, server, yaml, { now: NOW + 86_400_000 })
    expect(state()).toEqual(before)
  })
})

describe('a reply about another item', () => {
  test.each([
    ['a number', 601],
    ['a string', '601'],
    ['a name', 'precio'],
    ['an object', {}],
  ])('a reply about another indicator, identified by %s, is stored only in the reply store', async (_name, id) => {
    const store = await tempStore()
    const server = await serve((_request, response) => json(response, { indicator: { ...full, id } }))
    const summary = await runJob(store, server, SERIES, { now: NOW })
    expect(summary).toMatchObject({ outcome: 'partial', counts: { rows_rejected: 1, rows_new: 0 } })
    expect(store.all('select name from indicator_text')).toEqual([])
    expect(store.get('select count(*) from observation')).toBe(0)
    expect(store.get('select count(*) from _coverage')).toBe(0)
    expect(store.get('select count(*) from _reply')).toBe(1)
    expect(store.get('select count(*) from _quarantine')).toBe(1)
  })

  test('an id as a string identifies the same indicator', async () => {
    await nights([{ indicator: { ...full, id: '600' } }], (store) =>
      expect(store.get('select count(*) from observation')).toBe(1),
    )
  })

  test.each([
    ['potencia', { id: 'demanda', id_widget: 2 }, 0],
    ['potencia', { id: 'potencia', id_widget: 1 }, 1],
    ['3', { id: 'x', id_widget: 4 }, 0],
    ['3', { id: 'x', id_widget: 3 }, 1],
    ['3', { id: 'x' }, 1],
  ])('widget %s is compared with the reply %o', async (name, widget, stored) => {
    const store = await tempStore()
    const server = await serve((_request, response) => json(response, { widget: { name: 'W', ...widget } }))
    await runJob(store, server, `widgets: { names: ["${name}"] }`, { now: NOW })
    expect(store.get('select count(*) from widget')).toBe(stored)
    expect(store.get('select count(*) from _quarantine')).toBe(1 - stored)
  })
})

describe('independence of the order of replies', () => {
  test('the result is the same for any order of replies in two languages', async () => {
    const names = { es: 'uno', en: 'one' } as const
    const replies: Record<string, (locale: 'es' | 'en') => object> = {
      archives: (locale) => ({
        archives: [
          {
            id: 7,
            name: names[locale],
            horizon: 'D',
            archive_type: 'zip',
            date: { date: '2025-11-03' },
            date_times: [],
            publication_date: [],
            extra: locale,
            download: { name: names[locale], url: `/f?locale=${locale}` },
            taxonomy_terms: locale === 'es' ? [{ id_taxonomy_term: 5, name: 'cinco', vocabulary_id: 9 }] : [],
            vocabularies: [{ id_vocabulary: 9, name: names[locale] }],
          },
        ],
      }),
      news: (locale) => ({
        contents: [
          {
            id: 1,
            title: names[locale],
            updated_at: `2025-01-0${locale === 'es' ? 1 : 2}T00:00:00Z`,
            media: [],
            taxonomy_terms: [],
            vocabularies: [],
          },
        ],
      }),
      widgets: (locale) => ({ widgets: [{ id_widget: 3, id: 'w', type: names[locale], name: names[locale] }] }),
      indicators: (locale) => ({
        indicators: [{ id: 600, name: names[locale], short_name: names[locale], kept: locale }],
      }),
      series: (locale) => ({
        indicator: {
          ...full,
          name: names[locale],
          short_name: names[locale],
          magnitud: [{ id: 23, name: names[locale] }],
          seen: 1,
        },
      }),
    }
    const job: Record<string, (locale: string) => string> = {
      archives: (locale) => `archives:\n  - { locales: [${locale}], window: { from: 2025-11-03, to: 2025-11-04 } }`,
      news: (locale) => `content:\n  - { locales: [${locale}], kinds: [news] }`,
      widgets: (locale) => `widgets: { locales: [${locale}], list: true }`,
      indicators: (locale) => `catalogue: { locales: [${locale}] }`,
      series: (locale) =>
        `series:\n  - { indicators: [600], locale: ${locale}, window: { from: 2025-01-0${locale === 'es' ? 1 : 2}, to: 2025-01-0${locale === 'es' ? 2 : 3} } }`,
    }
    const server = await serve((request, response) => {
      const url = new URL(request.url!, 'http://x')
      const kind = url.pathname.includes('/indicators/') ? 'series' : url.pathname.split('/').at(-1)!
      json(response, replies[kind]!(url.searchParams.get('locale') as 'es' | 'en'))
    })
    const steps = Object.keys(job).flatMap((kind) => [`${kind} es`, `${kind} en`])
    const result = async (order: readonly string[]) => {
      const store = await tempStore()
      for (const step of order) {
        const [kind, locale] = step.split(' ') as [string, string]
        await runJob(store, server, job[kind]!(locale), { now: NOW })
      }
      const tables = dump(store, {
        indicator_text: ['fetch_id', 'last_seen_at'],
        content_text: ['fetch_id'],
        observation: ['fetch_id'],
        search_item: ['id'],
      })
      // Fetch times and version ends may differ.
      const isState = (name: string): boolean => !name.startsWith('_') && !name.endsWith('_revision')
      return Object.fromEntries(Object.entries(tables).filter(([name]) => isState(name)))
    }
    const expected = await result(steps)
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(steps, { minLength: steps.length }), async (order) => {
        expect(await result(order)).toEqual(expected)
      }),
      { numRuns: cases(2) },
    )
  })
})

test('an item that disappears from the first language takes its fields from the other one', async () => {
  const store = await tempStore()
  const item = (id: number, day: number) => ({
    id,
    title: `${day}`,
    sticky: day === 3,
    updated_at: `2025-01-0${day}T00:00:00Z`,
    expires_at: day === 1 ? null : `2030-01-0${day}T00:00:00Z`,
    taxonomy_terms: [{ id_taxonomy_term: day, name: `${day}`, vocabulary_id: 9 }],
  })
  let night = 0
  const spanishItems = () => (night === 0 ? [item(7, 1), item(8, 1)] : [item(8, 1)])
  const server = await serve((request, response) => {
    const isEnglish = request.url!.includes('locale=en')
    json(response, { contents: isEnglish ? [item(7, night + 2)] : spanishItems() })
  })
  const storedItem = () => [
    store.all('select sticky, updated_at, expires_at, withdrawn_at from content where id = 7'),
    store.all('select term_id from content_term where id = 7').map((row) => (row as { term_id: number }).term_id),
  ]
  const yaml = 'locales: [es, en]\npace: { concurrency: 1 }\ncontent: [{ kinds: [news] }]'
  const byDay: unknown[] = []
  for (; night < 2; night++) {
    await runJob(store, server, yaml, { now: NOW + night * 86_400_000 })
    byDay.push(storedItem())
  }
  const shared = { withdrawn_at: null, updated_at: '2025-01-03T00:00:00Z', expires_at: '2030-01-03T00:00:00Z' }
  expect(byDay[1]).toEqual([[{ ...shared, sticky: 1 }], [3]])
  expect(byDay[0]).toMatchObject([[{ updated_at: '2025-01-01T00:00:00Z', sticky: 0 }], [1]])
})

describe('row counts', () => {
  test('an indicator counts as new with its first reply, even without a description', async () => {
    const counts: unknown[] = []
    const nothing = { indicator: { id: 600, values: [] } }
    await nights([nothing, nothing, { indicator: full }], (store) =>
      counts.push(...store.all('select rows_new, rows_unchanged, rows_revised from _run order by id desc limit 1')),
    )
    expect(counts).toEqual([
      { rows_new: 1, rows_unchanged: 0, rows_revised: 0 },
      { rows_new: 0, rows_unchanged: 1, rows_revised: 0 },
      { rows_new: 5, rows_unchanged: 0, rows_revised: 0 },
    ])
  })

  test('an item that a listing contains twice is stored once, with its last values', async () => {
    const store = await tempStore()
    const server = await serve((_request, response) =>
      json(response, {
        contents: [
          { id: 1, title: 'a' },
          { id: 1, title: 'b' },
        ],
      }),
    )
    const { counts } = await runJob(store, server, 'content:\n  - { kinds: [news] }', { now: NOW })
    expect(counts).toMatchObject({ rows_new: 2, rows_unchanged: 0, rows_revised: 0, rows_withdrawn: 0 })
    expect(store.all('select title from content_text')).toEqual([{ title: 'b' }])
    expect(store.get('select count(*) from content_revision')).toBe(0)
  })
})

test('an empty name counts as missing, so that all views and lists show another language', async () => {
  const names: Record<string, string | null> = { es: '', en: 'English' }
  const server = await serve((request, response) => {
    const url = new URL(request.url!, 'http://x')
    const name = names[url.searchParams.get('locale') ?? 'es']
    const list = url.pathname === '/indicators'
    json(response, list ? { indicators: [{ id: 600, name, short_name: name }] } : { indicator: { ...full, name } })
  })
  const store = await tempStore()
  const yaml = `locales: [es, en]\ncatalogue: { refresh: 1h }\n${SERIES}`
  await runJob(store, server, yaml, { now: NOW })
  expect(store.all('select distinct indicator_name as name from observations')).toEqual([{ name: 'English' }])
  expect((await searchItems(store, SERVICES.generic, 'english', ['catalogue'])).map(({ name }) => name)).toEqual([
    'English',
  ])
  expect(store.all('select locale, name, short_name from indicator_text order by locale')).toEqual([
    { locale: 'en', name: 'English', short_name: 'English' },
    { locale: 'es', name: null, short_name: '' },
  ])
  // A name that becomes empty is no longer shown, but is kept in the history.
  await writeLanguage(store.kysely, 'es')
  names.es = 'Precio'
  await runJob(store, server, yaml, { now: NOW + 86_400_000 })
  expect(store.all('select distinct indicator_name as name from observations')).toEqual([{ name: 'Precio' }])
  names.es = ''
  await runJob(store, server, yaml, { now: NOW + 2 * 86_400_000 })
  expect(store.all('select distinct indicator_name as name from observations')).toEqual([{ name: 'English' }])
  expect(store.get("select count(*) from indicator_revision where name = 'Precio'")).toBe(1)
})
