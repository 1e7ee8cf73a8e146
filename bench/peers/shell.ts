/* The sqlite3 shell: .import of a CSV that is ready, then an upsert; the JSON costs it nothing. `node shell.ts rows.csv out.db` */
import { spawnSync } from 'node:child_process'

const [csv, database] = process.argv.slice(2) as [string, string]
const script = `
pragma journal_mode=wal;
create table observation (series_id integer not null, geo_id integer not null, at integer not null, value real,
  step_s integer not null, fetch_id integer not null, primary key (series_id, geo_id, at)) strict, without rowid;
create table staging (series_id integer, geo_id integer, at integer, value real, step_s integer, fetch_id integer);
.import --csv ${csv} staging
insert into observation select * from staging where true on conflict do update
  set value = excluded.value, step_s = excluded.step_s, fetch_id = excluded.fetch_id
  where value is not excluded.value or step_s is not excluded.step_s;
.mode list
select count(*) from observation;
`
const began = performance.now()
const { stdout, stderr, status } = spawnSync('sqlite3', [database], { input: script, encoding: 'utf8' })
if (status !== 0) throw new Error(stderr)
const rows = Number(stdout.trim().split('\n').at(-1))
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, rows })}\n`)
