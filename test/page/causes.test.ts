import { expect, test } from 'vitest'
import { filledFile, servePage } from './site.ts'

interface Cause {
  readonly fetch: number
  readonly run: number
  readonly outcome: string
  readonly status: number | null
  readonly rejected: number
  readonly reject: number | null
}

/** The database of the page tests, in which the request of the offers failed; `rejects` rows of it are in quarantine. */
const serve = (rejects: number) =>
  filledFile((store) => {
    for (let i = 0; i < rejects; i++)
      store.run(
        `insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at)
         select run_id, id, '$.values[' || ? || ']', 'no number', '{}', finished_at from _fetch where outcome = 'refused'`,
        [i],
      )
  }).then((file) => servePage(file))

test('a gap links to its last request, its run and its rows in quarantine', async () => {
  const { url } = await serve(2)
  const { holes } = (await (await fetch(`${url}/coverage/s4.json`)).json()) as { holes: { cause: Cause | null }[] }
  const { cause } = holes[0]!
  expect(cause).toMatchObject({ run: 1, outcome: 'refused', status: 400, rejected: 2 })
  const { fetch: request, reject } = cause!
  for (const path of ['/coverage/s4?lang=en', '/series/s4?lang=en']) {
    const page = await (await fetch(url + path)).text()
    expect(page, path).toContain(
      `<a href="/runs/1?before=${request + 1}#request-${request}">run 1, request of 2025-11-04 13:00</a>`,
    )
    expect(page, path).toContain('rejected by the service (HTTP 400)')
    expect(page, path).toContain(
      `<a href="/quarantine?before=${reject! + 1}#reject-${reject}">2 rows in quarantine</a>`,
    )
  }
  expect(await (await fetch(`${url}/runs/1?before=${request + 1}`)).text()).toContain(`id="request-${request}"`)
  expect(await (await fetch(`${url}/quarantine?before=${reject! + 1}`)).text()).toContain(`id="reject-${reject}"`)
})

test('a gap that nobody requested has no cause, and stored data none either', async () => {
  const { url } = await serve(0)
  const { holes } = (await (await fetch(`${url}/coverage/600.json?year=2024`)).json()) as {
    holes: { reason: string; cause: Cause | null }[]
  }
  expect(holes.map(({ reason, cause }) => [reason, cause])).toEqual([['never requested', null]])
  const page = await (await fetch(`${url}/coverage/s4?lang=es`)).text()
  expect(page).toContain('ejecución 1, petición del 2025-11-04 13:00')
  expect(page).not.toContain('en cuarentena')
})
