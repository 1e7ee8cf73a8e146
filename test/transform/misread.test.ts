import { describe, expect, test } from 'vitest'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const open = (store: Store) =>
  store.all('select path, reason, fragment from _quarantine where resolved_at is null order by id') as {
    readonly [column: string]: string
  }[]

/** Runs a job each night with the next body. */
async function nights(yaml: string, bodies: readonly object[], first = 0, store = tempStore()) {
  const opened = await store
  let night = first
  const server = await serve((_request, response) => json(response, bodies[night - first]))
  const outcomes: string[] = []
  for (; night < first + bodies.length; night++)
    outcomes.push((await runJob(opened, server, yaml, { now: NOW + night * 86_400_000 })).outcome)
  return { store: opened, outcomes }
}

const NEWS = 'content:\n  - { kinds: [news], refresh: 1h }'
const item = {
  id: 7,
  title: 'Uno',
  slug: 'uno',
  summary: 's',
  body: '<p>b</p>',
  sticky: true,
  published_at: '2025-11-03T01:00:00+01:00',
  media: [{ id: 3, title: 'm', document_value_file_size: '0' }],
  taxonomy_terms: [{ id_taxonomy_term: 5, name: 'z', vocabulary_id: 1 }],
  vocabularies: [{ id_vocabulary: 1, name: 'v' }],
}

describe('fields of a wrong type', () => {
  test('a field of a wrong type in content, media or terms is quarantined without its row', async () => {
    const wrong = {
      ...item,
      title: 5,
      summary: 't',
      body: { es: 'x' },
      sticky: 'true',
      published_at: 1_762_128_000,
      media: [{ id: 3, title: ['m'], document_value_file_size: '1 kB' }],
      taxonomy_terms: [{ id_taxonomy_term: 5, name: 6, vocabulary_id: '1' }],
      vocabularies: [{ id_vocabulary: 1, name: false }],
    }
    const { store, outcomes } = await nights(NEWS, [{ contents: [item] }, { contents: [wrong], meta: { size: 1 } }])
    expect(outcomes).toEqual(['done', 'partial'])
    expect(
      store.all('select title, summary, body, sticky, published_at from content join content_text using (kind, id)'),
    ).toEqual([{ title: 'Uno', summary: 't', body: '<p>b</p>', sticky: 1, published_at: item.published_at }])
    expect(new Set(open(store).map(({ path, reason, fragment }) => `${path} ${reason} ${fragment}`))).toEqual(
      new Set([
        '$.contents[0].published_at published_at is not a text {"id":7,"published_at":1762128000}',
        '$.contents[0].sticky sticky is not true or false {"id":7,"sticky":"true"}',
        '$.contents[0].title title is not a text {"id":7,"title":5}',
        '$.contents[0].body body is not a text {"body":{"es":"x"},"id":7}',
        '$.contents[0].taxonomy_terms[0].name name is not a text {"id_taxonomy_term":5,"name":6}',
        '$.contents[0].taxonomy_terms[0].vocabulary_id vocabulary_id is not a whole number {"id_taxonomy_term":5,"vocabulary_id":"1"}',
        '$.contents[0].vocabularies[0].name name is not a text {"id_vocabulary":1,"name":false}',
        '$.contents[0].media[0].title title is not a text {"id":3,"title":["m"]}',
        '$.contents[0].media[0].document_value_file_size document_value_file_size is not a whole number {"document_value_file_size":"1 kB","id":3}',
      ]),
    )
    // Each item has its id, so that the listing is complete.
    const after = await nights(
      NEWS,
      [{ contents: [{ ...item, id: 8, slug: 9 }], meta: { size: 1 } }],
      2,
      Promise.resolve(store),
    )
    expect(after.outcomes).toEqual(['partial'])
    expect(store.all('select id from content where withdrawn_at is null')).toEqual([{ id: 8 }])
    expect((await nights(NEWS, [{ contents: [item] }], 3, Promise.resolve(store))).outcomes).toEqual(['done'])
    expect(open(store)).toEqual([])
  })

  test('a field of a wrong type in the catalogue, archives or widgets is quarantined', async () => {
    const path = async (yaml: string, body: object) => open((await nights(yaml, [body])).store).map((row) => row.path)
    expect(
      await path('catalogue: true', { indicators: [{ id: 1, name: { es: 'x' }, short_name: 2, description: false }] }),
    ).toEqual(['$.indicators[0].name', '$.indicators[0].short_name', '$.indicators[0].description'])
    const archive = {
      id: 1,
      name: 5,
      horizon: 1,
      archive_type: ['zip'],
      download: 'x',
      date: 5,
      date_times: 'x',
      publication_date: {},
    }
    const archives = { archives: [archive, { id: 2, name: 'a', date: 'ayer', download: { url: 5 } }] }
    expect((await path('archives:\n  - { window: { from: 2025-11-01, to: 2025-11-02 } }', archives)).sort()).toEqual([
      ...['archive_type', 'date', 'date_times', 'download', 'horizon', 'name', 'publication_date'].map(
        (key) => `$.archives[0].${key}`,
      ),
      ...['$.archives[1].date', '$.archives[1].download.url'],
    ])
    const widgets = {
      widgets: [
        { id_widget: 1, id: 5, name: 5, subtitle: true, type: {} },
        { id_widget: '9', id: 2 },
      ],
    }
    expect((await path('widgets: { list: true }', widgets)).sort()).toEqual([
      ...['id', 'name', 'subtitle', 'type'].map((key) => `$.widgets[0].${key}`),
      '$.widgets[1].id_widget',
    ])
    const one = { widget: { id_widget: 1, id: 'potencia', name: 5 } }
    expect(await path('widgets: { names: [potencia], window: { last: 1d } }', one)).toEqual(['$.widget.name'])
  })

  test('a field of a wrong type beside values does not make them incomplete', async () => {
    const yaml = (day: number) =>
      `series:\n  - { indicators: [600], window: { from: 2025-01-0${day}, to: 2025-01-0${day + 1} } }`
    const at = (day: number, hour: number, value: number) => ({
      value,
      datetime: `2025-01-0${day}T0${hour}:00:00.000+01:00`,
      geo_id: 3,
      geo_name: 'España',
    })
    const values = [at(1, 0, 1), at(1, 1, 2)]
    const indicator = { id: 600, name: 'Precio', tiempo: [{ id: 4, name: 'Hora' }], values }
    const wrong = {
      ...indicator,
      name: 5,
      short_name: ['x'],
      composited: 'no',
      magnitud: [{ id: '23', name: 'Precio' }],
      tiempo: { id: 4 },
      geos: [{ geo_id: 3, geo_name: 4 }, 'x'],
      values_updated_at: 5,
      values: [
        { ...at(1, 0, 1), geo_name: 7 },
        { ...at(1, 1, 2), geo_name: 7 },
      ],
    }
    const { store, outcomes } = await nights(yaml(1), [{ indicator: wrong }])
    expect(outcomes).toEqual(['partial'])
    expect(
      open(store)
        .map((row) => row.path!.slice('$.indicator.'.length))
        .sort(),
    ).toEqual([
      ...['composited', 'geos[0].geo_name', 'geos[1]', 'magnitud[0].id', 'name', 'short_name', 'tiempo'],
      ...['values[0].geo_name', 'values_updated_at'],
    ])
    expect(store.all('select magnitude from indicator')).toEqual([{ magnitude: 'Precio' }])
    expect(store.all('select value from observation order by at')).toEqual([{ value: 1 }, { value: 2 }])
    expect(store.all('select state from _coverage')).toEqual([{ state: 'values' }])
    // The next valid reply about the series closes them, even for another day.
    const next = await nights(
      yaml(2),
      [{ indicator: { ...indicator, values: [at(2, 0, 1)] } }],
      1,
      Promise.resolve(store),
    )
    expect(next.outcomes).toEqual(['done'])
    expect(open(store)).toEqual([])
  })
})
