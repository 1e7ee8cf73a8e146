import { expect, test } from 'vitest'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const lists = {
  media: [{ id: 7, title: 'm' }],
  taxonomy_terms: [{ id_taxonomy_term: 5, name: 'z', vocabulary_id: 1 }],
  vocabularies: [{ id_vocabulary: 1, name: 'v' }],
}
const LINKS = `select (select count(*) from content_media) as media, (select count(*) from content_term) as terms,
  (select count(*) from content_vocabulary) as vocabularies`

test.each([
  [
    'other types than lists',
    { media: { items: lists.media }, taxonomy_terms: 'z', vocabularies: 1 },
    'media is not a list',
  ],
  [
    'lists of other entries',
    { media: [null], taxonomy_terms: [5], vocabularies: [{ name: 'v' }] },
    'has no whole number',
  ],
])('%s in an item are quarantined, and stored entries remain', async (_, damage, why) => {
  const store = await tempStore()
  const item = { id: 1, title: 't', ...lists }
  const replies = [
    item,
    { ...item, ...damage, title: 'u' },
    { ...item, media: [], taxonomy_terms: [], vocabularies: null },
  ]
  let night = 0
  const server = await serve((_request, response) => json(response, { contents: [replies[night]] }))
  const outcomes: string[] = []
  for (; night < replies.length; night++) {
    const yaml = 'content:\n  - { kinds: [news], refresh: 1h }'
    outcomes.push((await runJob(store, server, yaml, { now: NOW + night * 86_400_000 })).outcome)
    if (night > 1) continue
    expect(store.all(LINKS)).toEqual([{ media: 1, terms: 1, vocabularies: 1 }])
    if (night === 0) continue
    expect(store.get('select title from content_text')).toBe('u')
    expect(store.all("select path, reason from _quarantine where path like '$.contents[0].media%'")).toEqual([
      { path: expect.stringContaining('$.contents[0].media'), reason: expect.stringContaining(why) },
    ])
    expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(3)
  }
  expect(outcomes).toEqual(['done', 'partial', 'done'])
  expect(store.all(LINKS)).toEqual([{ media: 0, terms: 0, vocabularies: 0 }])
  expect(store.get('select count(*) from _quarantine where resolved_at is null')).toBe(0)
})
