import { localeOrderSql } from '../../db/tables/sql/expressions.ts'
import type { Recipe, RecipeDefaults } from './recipe.ts'

export const textRecipes = ({ locales }: RecipeDefaults): readonly Recipe[] => [
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
]
