import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS } from '../../src/db/sqlite/migrations.ts'
import { tempFolder } from '../kit.ts'
import { openStore } from '../store.ts'
import { connectEarlier } from './connectEarlier.ts'

/** What a database held whose indicator and item of news were listed (1), named (2), described (3) and named anew (4). */
const HELD = `
  insert into indicator (kind, id, first_seen_at) values ('indicator', 600, 'then');
  insert into content (kind, id, first_seen_at) values ('news', 1, 'then');
  insert into indicator_text (kind, id, locale, fetch_id) values ('indicator', 600, 'es', 1);
  insert into content_text (kind, id, locale, fetch_id) values ('news', 1, 'es', 1);
  update indicator_text set name = 'Uno', fetch_id = 2;
  update content_text set title = 'Uno', fetch_id = 2;
  update indicator_text set description = 'D', fetch_id = 3;
  update content_text set body = 'D', fetch_id = 3;
  update indicator_text set name = 'Dos', fetch_id = 4;
  update content_text set title = 'Dos', fetch_id = 4;`

const EARLIER = Object.keys(MIGRATIONS).filter((name) => Number.parseInt(name, 10) < 26)

test.each(EARLIER)('versions without any text leave a database of schema %s', async (name) => {
  const file = join(tempFolder(), 'old.db')
  const connection = await connectEarlier(file, name)
  connection.raw.exec(HELD)
  const revisions = connection.raw.prepare('select count(*) from indicator_revision').pluck()
  expect(revisions.get()).toBe(3)
  connection.raw.close()
  const store = await openStore(file)
  onTestFinished(() => store.close())
  const left = [
    { text: 'Uno', more: null, fetch_id: 2, superseded_by: 3 },
    { text: 'Uno', more: 'D', fetch_id: 3, superseded_by: 4 },
  ]
  expect(
    store.all('select name as text, description as more, fetch_id, superseded_by from indicator_revision'),
  ).toEqual(left)
  expect(store.all('select title as text, body as more, fetch_id, superseded_by from content_revision')).toEqual(left)
  // From now on none comes.
  store.run(`insert into indicator_text (kind, id, locale, fetch_id) values ('indicator', 600, 'en', 5)`, [])
  store.run(`update indicator_text set name = 'One', fetch_id = 6 where locale = 'en'`, [])
  expect(store.get(`select count(*) from indicator_revision where locale = 'en'`)).toBe(0)
})
