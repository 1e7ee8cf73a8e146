import type { Recipe } from './recipe.ts'

export const TEXTS: readonly Recipe[] = [
  {
    name: 'search',
    asks: 'Where is something spoken of: in indicators, content or archives? Accents do not matter; words of the name count most.',
    parameters: { text: 'precio*', locale: 'es' },
    sql: `select i.kind, i.item_id as id, t.name, snippet(search, -1, '', '', '…', 8) as excerpt
from search
join search_item i on i.id = search.rowid
join texts t on t.id = i.id
where search match :text and i.locale = :locale
order by bm25(search, 10, 4, 1), i.kind, i.item_id
limit 20`,
  },
  {
    name: 'latest-news',
    asks: 'What is new?',
    parameters: { locale: 'es' },
    sql: `select id, substr(published_at, 1, 10) as published, title, substr(body_text, 1, 60) as begins, terms
from news where locale = :locale and withdrawn_at is null
order by published_at desc, id limit 10`,
  },
  {
    name: 'archives-published',
    asks: 'Which archives were published on a day, and what are they about?',
    parameters: { date: '2025-11-03' },
    sql: `select id, name, archive_type, horizon, about_from, about_to, published_from
from archive_publications where date = :date and kind = 'archive'
order by id limit 20`,
  },
]
