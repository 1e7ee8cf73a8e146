import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { EXIT } from '../../../src/cli/terminal/fail.ts'
import { emulate, onlyInFile, runCommand, tempFolder } from '../../support/kit.ts'

const BUDGET = 4
const PACE = `pace: { perSecond: 50, concurrency: 1, callsPerDay: ${BUDGET} }\n`
const JOBS = {
  a: `series: [{ indicators: [600, 1001, 1739, 10033, 460, 1293], window: { last: 1d } }]
catalogue: true
content: [{ kinds: [news] }]
`,
  b: `series: [{ indicators: [541, 542], window: { last: 1d } }]
widgets: { list: true }
`,
}

const PATHS = [
  ...[600, 1001, 1739, 10033, 460, 1293, 541, 542].map((id) => `/indicators/${id}`),
  ...['/indicators', '/es/news', '/widgets'],
]

/** Moves everything that was recorded a day back, as if a day had passed. */
function passDay(file: string): void {
  new SQLite(file)
    .exec(`update _coverage set fetched_at = fetched_at - 86400;
    update _budget set called_at = called_at - 86400000;
    update _fetch set finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', finished_at, '-1 day')`)
    .close()
}

test.skipIf(onlyInFile('file'))(
  'a small budget reaches everything in two job files in turn, even if an id always fails',
  async () => {
    const emulator = await emulate({ faults: [{ route: 'indicator', id: 600, status: 400 }] })
    const dir = tempFolder()
    const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
    for (const [name, yaml] of Object.entries(JOBS))
      writeFileSync(join(dir, `${name}.yaml`), `name: ${name}\n${PACE}${yaml}`)
    const nights: string[][] = []
    for (let night = 0; night < 8; night++) {
      const before = emulator.requests.length
      const { code, err } = await runCommand(dir, ['sync', 'a.yaml', 'b.yaml', '--quiet', '--database', 'x.db'], env)
      expect([code, err]).toEqual([EXIT.stopped, ''])
      nights.push(emulator.requests.slice(before).map(({ url }) => url.split('?')[0]!))
      passDay(join(dir, 'x.db'))
    }
    // Eleven turns of four calls a night come round within three nights.
    for (let night = 0; night + 3 < nights.length; night++)
      expect(new Set(nights.slice(night, night + 4).flat())).toEqual(new Set(PATHS))
  },
)
