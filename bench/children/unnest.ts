/* The minimum of a loader into PostgreSQL: each response is read and sent as arrays in its own transaction, values only: `node unnest.ts small|large address responses`. */
import pg from 'pg'
import { transform } from '../../src/transform/transform.ts'
import { planRequest, readResponses, SHAPES, type ShapeName } from '../responses.ts'

const [shapeName, address, file] = process.argv.slice(2) as [ShapeName, string, string]
const client = new pg.Client({ connectionString: address })
await client.connect()
await client.query('set synchronous_commit = off')
await client.query(`create table if not exists bare (series_id integer, geo_id integer, at bigint, value double precision,
  step_s integer, fetch_id integer, primary key (series_id, geo_id, at))`)
const bodies = readResponses(file)
const began = performance.now()
const worked = process.cpuUsage()
let rows = 0
for (const [n, body] of bodies.entries()) {
  const planned = planRequest(n, SHAPES[shapeName])
  const { at, geoIds, values } = transform(body, planned).observations!
  await client.query({
    name: 'upsert',
    text: `insert into bare select $1::integer, g, a, v, 3600, $2::integer
      from unnest($3::integer[], $4::bigint[], $5::float8[]) u (g, a, v)
      on conflict (series_id, geo_id, at) do update set value = excluded.value, fetch_id = excluded.fetch_id`,
    values: [planned.series!.indicatorId, n, [...geoIds], [...at], [...values]],
  })
  rows += at.length
}
const { user, system } = process.cpuUsage(worked)
process.stdout.write(
  `${JSON.stringify({ seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6, rows })}\n`,
)
await client.end()
