import { expect, test } from 'vitest'
import { tempStore } from '../kit.ts'

test.each([0, 1, 2, 500])(
  'a list of %i values in a condition is one parameter, so that its statement is prepared once',
  async (length) => {
    const { kysely } = await tempStore()
    await kysely
      .insertInto('geo')
      .values([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 999 }])
      .execute()
    const ids = Array.from({ length }, (_, i) => i + 1)
    const inside = kysely.selectFrom('geo').select('id').where('id', 'in', ids).orderBy('id')
    const outside = kysely.selectFrom('geo').select('id').where('id', 'not in', ids).orderBy('id')
    expect(inside.compile().parameters).toHaveLength(1)
    expect(inside.compile().sql).toBe(
      kysely.selectFrom('geo').select('id').where('id', 'in', [7]).orderBy('id').compile().sql,
    )
    const known = [1, 2, 3, 999]
    expect((await inside.execute()).map(({ id }) => id)).toEqual(known.filter((id) => ids.includes(id)))
    expect((await outside.execute()).map(({ id }) => id)).toEqual(known.filter((id) => !ids.includes(id)))
  },
)

test('texts in a list are found as they are', async () => {
  const { kysely } = await tempStore()
  const names = [`it's`, '"quoted"', 'a\\b', 'ñandú\n', '7']
  await kysely.insertInto('geo').values({ id: 1 }).execute()
  await kysely
    .insertInto('geo_text')
    .values(names.map((name, i) => ({ id: 1, locale: `l${i}`, name })))
    .execute()
  const found = await kysely
    .selectFrom('geo_text')
    .select('name')
    .where('name', 'in', names)
    .orderBy('locale')
    .execute()
  expect(found.map(({ name }) => name)).toEqual(names)
})
