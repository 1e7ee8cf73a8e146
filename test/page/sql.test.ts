import { describe, expect, test } from 'vitest'
import { servePage, sharedFile } from './site.ts'

const ENDLESS = 'with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n'
const addressOf = (sql: string, path = '/sql'): string => `${path}?sql=${encodeURIComponent(sql)}`

describe('an SQL statement on the page', () => {
  test('an endless statement times out, and other requests are served meanwhile', async () => {
    const { url } = await servePage(await sharedFile())
    const endless = fetch(url + addressOf(ENDLESS)).then(async (response) => [response.status, await response.text()])
    for (const path of ['/', addressOf('select 1 as one')]) expect((await fetch(url + path)).status).toBe(200)
    const [status, text] = await endless
    // A statement that timed out is valid, and may succeed later.
    expect(status).toBe(503)
    expect(text).toContain('The statement took longer than 3 s and was stopped.')
    expect(text).toContain('--timeout 600')
  })

  test('a statement returns JSON and CSV, and errors in the same format', async () => {
    const { url } = await servePage(await sharedFile())
    const sql = `select kind, id, 'a "b", c' as text from indicator where id = 600`
    const data = (await (await fetch(url + addressOf(sql, '/sql.json'))).json()) as { result: object }
    expect(data.result).toEqual({ columns: ['kind', 'id', 'text'], rows: [['indicator', 600, 'a "b", c']], cut: null })
    const file = await fetch(url + addressOf(sql, '/sql.csv'))
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="result.csv"')
    expect(await file.text()).toBe('kind,id,text\nindicator,600,"a ""b"", c"\n')
    const formula = await fetch(url + addressOf(`select '=HYPERLINK("//evil")' as text, -1 as number`, '/sql.csv'))
    expect(await formula.text()).toBe(`text,number\n"'=HYPERLINK(""//evil"")",-1\n`)
    const wrong = await fetch(url + addressOf('delete from indicator', '/sql.csv'))
    expect([wrong.status, await wrong.json()]).toEqual([400, expect.objectContaining({ error: expect.any(String) })])
  })

  test('CSV contains all rows, while the page shows a thousand', async () => {
    const { url } = await servePage(await sharedFile())
    const many = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 50000) select i from n'
    const lines = (await (await fetch(url + addressOf(many, '/sql.csv'))).text()).trim().split('\n')
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([50_001, 'i', '50000'])
    // A closed connection ends the statement.
    const endless = await fetch(
      url + addressOf('with recursive n (i) as (select 1 union all select i + 1 from n) select i from n', '/sql.csv'),
    )
    await endless.body!.cancel()
    expect((await fetch(url + addressOf('select 1'))).status).toBe(200)
  })

  test('a result that the page cuts says so in one sentence, with a chart also that', async () => {
    const { url } = await servePage(await sharedFile())
    const sql =
      "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) select i, 2 * i as d, printf('%0200d', i) as t from n"
    const page = async (more: string) => (await fetch(`${url}${addressOf(sql)}&lang=en${more}`)).text()
    const [, said] = /<p role="status">([^<]*)</.exec(await page(''))!
    expect(said!.trim()).toMatch(/^The first \d+ rows; the result has more\. CSV has all\.$/)
    expect(await page('&chart=line&x=i&y=d')).toContain('Only the first 1,000 rows are drawn.')
  })

  test('an invalid statement returns status 400, and a timeout of a file 503', async () => {
    const { url } = await servePage(await sharedFile())
    const wrong = (await (await fetch(url + addressOf('select nothing', '/sql.json'))).json()) as object
    expect(wrong).toMatchObject({ result: null, refused: { code: expect.any(String), message: expect.any(String) } })
    expect((await fetch(url + addressOf('select nothing'))).status).toBe(400)
    // Two statements run at once.
    const late = await Promise.all(['/sql.json', '/sql.csv'].map((path) => fetch(url + addressOf(ENDLESS, path))))
    expect(late.map(({ status }) => status)).toEqual([503, 503])
    expect(await late[1]!.json()).toMatchObject({ code: 'timeout' })
  })
})
