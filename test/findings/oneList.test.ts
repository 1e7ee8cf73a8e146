import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { STATE_KINDS } from '../../src/findings/finding.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { readStatus } from '../../src/findings/readStatus.ts'
import { askPage } from '../page/askPage.ts'
import { servePage } from '../page/site.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { ms, tempStore } from '../support/kit.ts'

/** The time of the page tests. */
const NOW = ms('2025-11-04T12:00:00Z')
const window = 'window: { from: 2025-10-01, to: 2025-10-20 }, lookback: 2d'
const at = (text: string): number => ms(text) / 1000

/** Fills a database that has many troubles of several kinds. */
async function troubled() {
  const store = await tempStore()
  const service = await startHourlyService({ geos: [3, 4] })
  // Every second hour is lost: more than a hundred holes.
  const isLost = (instant: number): boolean => instant > at('2025-10-09T00:00Z') && instant % 7200 === 0
  service.state.status = (path) => {
    if (path.endsWith('/6')) return 404
    return path.endsWith('/7') ? 400 : undefined
  }
  service.state.spoiled = (instant) => instant >= at('2025-10-02T00:00Z') && instant < at('2025-10-05T00:00Z')
  const run = (name: string, series: string) =>
    service.run(store, `name: ${name}\nseries: [${series}]`, NOW - 3_600_000)
  await run('spoiled', `{ indicators: [8], ${window} }`)
  service.state.spoiled = () => false
  service.state.has = (instant, geo) => geo === 3 || !isLost(instant)
  await run('one', `{ indicators: [5, 6, 7], geoIds: [3, 4, 98, 99], ${window} }`)
  await run('other', `{ indicators: [5, 9], geoIds: [3, 97], ${window} }`)
  return store
}

test('every reader reports the same findings, one for each cause', async () => {
  const store = await troubled()
  const now = NOW / 1000
  const findings = await findFindings(store, now, { depth: 'state' })
  expect(findings.map(({ kind, subject, cause }) => `${kind}: ${subject} (${cause})`)).toEqual([
    'unknown id: indicator 6 (not-found)',
    'failure: indicator 7 (bad-request)',
    'quarantine: indicator 8 (null)',
    'geo: indicator 5 (null)',
    'geo: indicator 5 (null)',
    'geo: indicator 9 (null)',
    'gap: indicator 5, geo 4 (absent)',
  ])
  const [, , quarantine, otherGeo, geo, , gap] = findings
  expect(quarantine!.message).toContain('144 rejected rows or fields')
  expect(geo!.message).toContain('has no values for geo 98, 99')
  expect(otherGeo!.message).toContain('has no values for geo 97;')
  expect(gap!.message).toMatch(/: \d{3} periods in \d{3} ranges from /)

  expect(await findFindings(store, now), 'check').toEqual(findings)
  expect((await readStatus(store, now)).findings, 'status').toEqual(findings)
  const { url } = await servePage(store.file)
  const json = async (path: string) => JSON.parse(await (await fetch(`${url}${path}`)).text())
  expect(await json('/healthz')).toEqual({ ok: false, findings })
  expect((await json('/status.json')).findings).toEqual(findings)
  const metrics = await prometheusText(store, undefined, now)
  for (const kind of STATE_KINDS) {
    const count = findings.filter((finding) => finding.kind === kind).length
    expect(metrics).toContain(`indicator_sync_findings{kind="${kind}"} ${count}\n`)
  }
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('indicator_sync_findings{kind="geo"} 3\n')
  const { health } = await json('/index.json')
  expect(health.findings.map(({ kind, subject }: { kind: string; subject: string }) => [kind, subject])).toEqual(
    findings.map(({ kind, subject }) => [kind, subject]),
  )
  for (const locale of ['en', 'es'] as const) {
    const { html } = await askPage(store, '/', locale)
    const [section = ''] = /<section class="health problems"[\s\S]*?<\/section>/.exec(html) ?? []
    expect(section.match(/<li>/g), locale).toHaveLength(findings.length)
  }
})
