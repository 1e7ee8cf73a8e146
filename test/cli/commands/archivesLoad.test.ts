import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { emulate, runCommand, runJob, tempFolder, tempStore } from '../../support/kit.ts'

const NOW = Date.parse('2025-11-04T12:00:00Z')
const DAYS = 'archives: [{ window: { from: 2025-07-03, to: 2025-07-05 } }]'

/** Creates a database with the archives of two days, some of them downloaded. */
async function downloadedStore(files: Readonly<Record<string, Uint8Array>>) {
  const store = await tempStore()
  await runJob(store, await emulate({ now: NOW / 1000 }), DAYS, { now: NOW })
  const folder = tempFolder()
  /** Writes the file of the first edition of an archive, and records it as a download does. */
  const put = async (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes)
    const edition = store.kysely.selectFrom('archive_publications').select('url').where('name', '=', name)
    const { url } = await edition.orderBy('date').limit(1).executeTakeFirstOrThrow()
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const row = { url: url!, path: name, sha256, bytes: bytes.length, fetched_at: '2025-11-04T12:00:00.000Z' }
    const insert = store.kysely.insertInto('archive_file').values(row)
    await insert.onConflict((conflict) => conflict.column('url').doUpdateSet(row)).execute()
  }
  for (const [name, bytes] of Object.entries(files)) await put(name, bytes)
  const run = (...args: string[]) => runCommand(tempFolder(), [...args, '--database', store.address])
  const load = (...args: string[]) => run('archives', 'load', '--output', folder, ...args)
  const rows = async (sql: string) => JSON.parse((await run('query', sql, '--format', 'json')).out)
  return { folder, put, run, load, rows }
}

const SETTLEMENT = zipSync({
  C2_prdvsuqh_20241001_20241031: strToU8(
    'prdvsuqh;\n2024;11;09;12;10;17;\n27/10/2024;3;4;81.3;\n27/10/2024;25;1;-7;\n',
  ),
  C2_imrad_20241001_20241031: strToU8('imrad;\n2024;11;09;12;10;17;\n27/10/2024;2;0.5;\n'),
  C2_cdsvbrp_20241001_20241031: strToU8('cdsvbrp;\n2024;11;09;12;10;17;\nD 27;7,13;;28.46;;\n'),
  'C2_modelcom.pdf': strToU8('%PDF'),
})
const PVPC = Buffer.from(
  JSON.stringify({
    PVPC: [
      { Dia: '27/10/2024', Hora: '00-01', PCB: '116,33', CYM: '99', TEUPCB: '3,5' },
      { Dia: '27/10/2024', Hora: '01-02', PCB: '', CYM: '97' },
    ],
  }),
)

test('archives load stores rows of known layouts once and lists files of unknown layout', async () => {
  const { put, run, load, rows } = await downloadedStore({
    C2_liquicomun: SETTLEMENT,
    pvpcdesglosehorario: PVPC,
    I90DIA: zipSync({ 'I90DIA_20250703.pdf': strToU8('x') }),
  })
  const first = await load('--name', 'C2_liquicomun')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(
    /^Loaded 4 rows of 3 files; 0 editions already loaded\.\n1 file without a known layout, which stay files:\n- C2_liquicomun 2025-07-03: C2_modelcom\.pdf\n/,
  )
  expect(
    await rows(
      'select settlement, concept, local_date, hour, quarter, value from archive_settlement order by concept, hour, quarter',
    ),
  ).toEqual([
    { settlement: 'C2', concept: 'cdsvbrp', local_date: '2024-10-27', hour: 1, quarter: null, value: 7.13 },
    { settlement: 'C2', concept: 'cdsvbrp', local_date: '2024-10-27', hour: 3, quarter: null, value: 28.46 },
    { settlement: 'C2', concept: 'imrad', local_date: '2024-10-27', hour: 2, quarter: null, value: 0.5 },
    { settlement: 'C2', concept: 'prdvsuqh', local_date: '2024-10-27', hour: 3, quarter: 4, value: 81.3 },
    { settlement: 'C2', concept: 'prdvsuqh', local_date: '2024-10-27', hour: 25, quarter: 1, value: -7 },
  ])
  const all = JSON.parse((await load('--json')).out)
  expect(all).toMatchObject({
    rows: 2,
    files: 1,
    stored: 1,
    missing: expect.any(Number),
    unknown: ['I90DIA 2025-07-03: I90DIA_20250703.pdf'],
    failed: [],
  })
  expect(await rows('select id, date, local_date, hours, price_pcb, price_cym from archive_pvpc')).toEqual([
    { id: 80, date: '2025-07-03', local_date: '2024-10-27', hours: '00-01', price_pcb: 116.33, price_cym: 99 },
    { id: 80, date: '2025-07-03', local_date: '2024-10-27', hours: '01-02', price_pcb: null, price_cym: 97 },
  ])
  expect(JSON.parse((await load('--json')).out)).toMatchObject({
    rows: 0,
    stored: 2,
    unknown: ['I90DIA 2025-07-03: I90DIA_20250703.pdf'],
  })

  // A newer version replaces the rows, a damaged one does not.
  await put('pvpcdesglosehorario', Buffer.from(PVPC.toString().replace('99', '98')))
  expect(await load('80')).toMatchObject({ code: 0 })
  expect(await rows('select price_cym from archive_pvpc')).toEqual([{ price_cym: 98 }, { price_cym: 97 }])
  await put('C2_liquicomun', SETTLEMENT.slice(0, 100))
  const damaged = await load('8')
  expect(damaged).toMatchObject({
    code: 1,
    out: expect.stringMatching(/Cannot load 1 file:\n- C2_liquicomun 2025-07-03: the ZIP is damaged: /),
  })
  expect(await rows('select count(*) as n from archive_row')).toEqual([{ n: 6 }])

  // The rows survive a replay.
  const into = join(tempFolder(), 'again.db')
  expect((await run('replay', '--output', into)).code).toBe(0)
  const again = await runCommand(tempFolder(), [
    'query',
    'select count(*) from archive_row',
    '--format',
    'csv',
    '--database',
    into,
  ])
  expect(again.out).toMatch(/\n6\n$/)
})

test('archives load reports that no files are downloaded yet', async () => {
  const { load } = await downloadedStore({})
  expect((await load('--name', 'I90DIA')).out).toMatch(
    /^Loaded 0 rows of 0 files; .*\n2 editions not downloaded; `indicator-sync archives download` fetches them\.\n/,
  )
})

test('the name of an archive that is not stored is refused', async () => {
  const { load } = await downloadedStore({})
  expect(await load('--name', 'I90DIAS')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^No stored archive is named "I90DIAS"\. Did you mean "?I90DIA"?\?/),
  })
})

test('files with an impossible date are named with their line by every load, and the rest is loaded', async () => {
  const settlement = (day: string) => strToU8(`x;\n2024;11;09;12;10;17;\n${day};1;0.5;\n`)
  const { load, rows } = await downloadedStore({
    C2_liquicomun: zipSync({
      C2_a_20240201_20240229: settlement('31/02/2024'),
      C2_b_20240201_20240229: settlement('29/02/2023'),
      C2_c_20240201_20240229: settlement('J 30'),
      C2_d_20240201_20240229: settlement('00/02/2024'),
      C2_e_20240201_20240229: settlement('29/02/2024'),
    }),
    pvpcdesglosehorario: Buffer.from(
      JSON.stringify({ PVPC: [{ Dia: '31/04/2024', Hora: '00-01', PCB: '1', CYM: '1' }] }),
    ),
  })
  for (let i = 0; i < 2; i++) {
    const { code, out } = await load('--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ rows: 1, files: 1, stored: 0, unknown: [] })
    expect(JSON.parse(out).failed).toEqual([
      ...['"31/02/2024" is not a day', '"29/02/2023" is not a day', '"J 30" is not a day of the file']
        .concat('"00/02/2024" is not a day')
        .map((reason, k) => ({ file: `C2_liquicomun 2025-07-03: C2_${'abcd'[k]}_20240201_20240229`, line: 3, reason })),
      {
        file: 'pvpcdesglosehorario 2025-07-03: pvpcdesglosehorario',
        line: 1,
        reason: 'Dia "31/04/2024" is not a day',
      },
    ])
  }
  expect((await load()).out).toMatch(
    /\nCannot load 5 files:\n- C2_liquicomun 2025-07-03: C2_a_20240201_20240229, line 3: /,
  )
  expect(await rows('select file from archive_row')).toEqual([{ file: 'C2_e_20240201_20240229' }])
})

test('a file that is missing or differs from the download does not stop the others', async () => {
  const { folder, load, rows } = await downloadedStore({
    C2_liquicomun: SETTLEMENT,
    I90DIA: Buffer.from('x'),
    pvpcdesglosehorario: PVPC,
  })
  const changed = Buffer.from(SETTLEMENT)
  changed.write('C3', changed.length - 60)
  writeFileSync(join(folder, 'C2_liquicomun'), changed)
  rmSync(join(folder, 'I90DIA'))
  const { code, out } = await load('--json')
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    rows: 2,
    failed: [
      {
        file: 'C2_liquicomun 2025-07-03',
        reason: expect.stringMatching(/SHA-256 differs.*archives download 8 --refresh/),
      },
      { file: 'I90DIA 2025-07-03', reason: expect.stringMatching(/does not exist/) },
    ],
  })
  expect(await rows('select distinct layout from archive_row')).toEqual([{ layout: 'pvpc' }])
})

test('days of a settlement across two months get their own month, unless that is ambiguous', async () => {
  const days = (...lines: string[]) =>
    strToU8(`x;\n2025;01;09;12;10;17;\n${lines.map((line) => `${line};0.5;\n`).join('')}`)
  const { load, rows } = await downloadedStore({
    C2_liquicomun: zipSync({
      C2_week_20241230_20250105: days('L 30', 'M 31', 'X 01', 'D 5'),
      // Day 1 of two months is within the range.
      C2_long_20241201_20250105: days('D 01', 'X 01'),
      // 1 January 2025 is a Wednesday, and 20 January is after the range.
      C2_weekday_20241230_20250105: days('L 01'),
      C2_late_20241230_20250105: days('L 20'),
    }),
  })
  expect(JSON.parse((await load('--json')).out)).toMatchObject({
    rows: 4,
    files: 1,
    unknown: [],
    failed: ['long_20241201', 'weekday_20241230', 'late_20241230'].map((name) => ({
      file: `C2_liquicomun 2025-07-03: C2_${name}_20250105`,
      line: 3,
      reason: expect.stringMatching(/is not a day of the file/),
    })),
  })
  expect(await rows('select local_date from archive_settlement order by local_date')).toEqual(
    ['2024-12-30', '2024-12-31', '2025-01-01', '2025-01-05'].map((local_date) => ({ local_date })),
  )
})

test('prices of PVPC before June 2021 have columns of their own, and hours without a price are left out', async () => {
  const { load, rows } = await downloadedStore({
    pvpcdesglosehorario: Buffer.from(
      JSON.stringify({
        PVPC: [
          { Dia: '31/05/2021', Hora: '22-23', GEN: '141,43', NOC: '66,4', VHC: '62,1', COFGEN: '0,00012' },
          { Dia: '31/05/2021', Hora: '23-24', GEN: '', NOC: '', VHC: '' },
        ],
      }),
    ),
  })
  expect(JSON.parse((await load('--json')).out)).toMatchObject({ rows: 2, failed: [] })
  expect(await rows('select hours, price_pcb, price_gen, price_noc, price_vhc from archive_pvpc')).toEqual([
    { hours: '22-23', price_pcb: null, price_gen: 141.43, price_noc: 66.4, price_vhc: 62.1 },
  ])
})
