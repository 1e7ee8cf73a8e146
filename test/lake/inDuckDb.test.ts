import { expect, test } from 'vitest'
import { VALUE_VIEWS_IN_DUCKDB } from '../../src/lake/duckDbViews.ts'
import { VIEWS } from '../../src/tables/sql/views.ts'

test('the views on values have the columns in DuckDB that they have in the database', () => {
  for (const [name, sql] of Object.entries(VALUE_VIEWS_IN_DUCKDB)) {
    const [selected = ''] = sql.split('\n  from ')
    const columns = [...selected.matchAll(/ as "(\w+)"/g)].map(([, column]) => column)
    expect(columns.sort(), name).toEqual(Object.keys(VIEWS[name as keyof typeof VALUE_VIEWS_IN_DUCKDB].columns).sort())
  }
})
