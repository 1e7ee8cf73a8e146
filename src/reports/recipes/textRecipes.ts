import { localeOrderSql } from '../../db/tables/sql/expressions.ts'
import type { Recipe, RecipeDefaults } from './recipe.ts'

/** The day of `archives-published`; default: today. */
const DAY_SQL = `coalesce(:date, strftime('%Y-%m-%d', 'now'))`

export const textRecipes = ({ exampleTexts, locales }: RecipeDefaults): readonly Recipe[] => [
  {
    name: 'search',
    question: 'Which indicators, texts and archives mention a word? Ignores accents and ranks names first.',
    parameters: { text: exampleTexts && `${exampleTexts.word}*`, locale: locales[0] },
    needs: [],
    required: ['text'],
    preconditions: [
      {
        sql: 'select exists(select 1 from search_item where locale = :locale)',
        message: 'No text in the language {locale} is stored.',
        hint: `A job fetches them: catalogue: true, and content: [{ kinds: [news] }], with locales: [${locales.join(', ')}].`,
      },
    ],
    sql: `select i.kind, i.item_id as id, t.name, snippet(search, -1, '', '', '…', 8) as excerpt
from search
join search_item i on i.id = search.rowid
join texts t on t.id = i.id
where search match :text and i.locale = :locale
order by bm25(search, 10, 4, 1), i.kind, i.item_id
limit 20`,
    empty: { message: 'No text matches.', isResult: true },
  },
  {
    name: 'latest-news',
    question: 'What is the latest news?',
    parameters: { locale: null },
    needs: [],
    preconditions: [
      {
        sql: 'select exists(select 1 from news where (:locale is null or locale = :locale) and withdrawn_at is null)',
        message: 'No news in the language {locale} is stored.',
        hint: `A job fetches them: content: [{ kinds: [news] }], with locales: [${locales.join(', ')}].`,
      },
    ],
    sql: `select id, substr(published_at, 1, 10) as published, title, trim(substr(body_text, 1, 60)) as beginning, terms
from news where locale = coalesce(:locale, (select locale from news order by ${localeOrderSql('locale')} limit 1)) and withdrawn_at is null
order by published_at desc, id limit 10`,
    empty: { message: 'There is no news.', isResult: true },
  },
  {
    name: 'archives-published',
    question: 'Which archives are listed for a day, and which days do they cover?',
    parameters: { date: null },
    shown: { date: '2025-11-03' },
    needs: [],
    preconditions: [
      {
        sql: `select exists(select 1 from archive_publications where kind = 'archive')`,
        message: 'No listing of archives is stored.',
        hint: 'A job fetches it: archives: [{ window: { last: 7d } }].',
      },
      {
        sql: `select exists(select 1 from archive_publications where kind = 'archive' and date = ${DAY_SQL})`,
        message: 'No stored archive was listed for {date}.',
        hint: 'Choose another day: --param date=-1d, or --param date=2025-11-03; `archives list` shows the stored days.',
      },
    ],
    sql: `select id, name, archive_type, horizon, about_from, about_to, published_from
from archive_publications where date = ${DAY_SQL} and kind = 'archive'
order by id limit 20`,
    empty: { message: 'No archive is listed for this day.', isResult: true },
  },
]
