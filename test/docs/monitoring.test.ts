import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { METRICS, prometheusText } from '../../src/findings/metrics.ts'
import { emulate, runCli, runJob, tempFolder, tempStore } from '../support/kit.ts'

const names = Object.keys(METRICS).map((name) => `indicator_sync_${name}`)
const read = (file: string): string => readFileSync(`docs/monitoring/${file}`, 'utf8')
const mentioned = (text: string): string[] => [...new Set(text.match(/\bindicator_sync_\w+/g) ?? [])]
const promtool = spawnSync('promtool', ['--version']).status === 0

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

describe('metrics', () => {
  test('metrics report open failures, gaps, stale series, quarantine, duration and last success', async () => {
    const store = await tempStore()
    const emulator = await emulate({ now: Date.parse('2025-11-04T12:00:00Z') / 1000 })
    const yaml = (ids: string) => `series:\n  - { indicators: [${ids}], window: { last: 2d } }`
    await runJob(store, emulator, yaml('1739'))
    await runJob(store, emulator, yaml('1739, 99'))
    const text = await prometheusText(store, { version: '9.9', callsLeft: [{ job: 'test', calls: 7 }] })
    const figure = (name: string): string | undefined =>
      new RegExp(`^indicator_sync_${name} (.*)$`, 'm').exec(text)?.[1]
    expect(figure('build_info\\{version="9\\.9",schema="\\d+"\\}')).toBe('1')
    expect(figure('calls_left\\{job="test"\\}')).toBe('7')
    expect(figure('open_failures')).toBe('1')
    expect(Number(figure('gaps\\{reason="failed"\\}'))).toBeGreaterThanOrEqual(1)
    expect(figure('stale_series')).toMatch(/^\d+$/)
    expect(figure('quarantined')).toBe('0')
    expect(Number(figure('last_run_duration_seconds\\{job="test"\\}'))).toBeGreaterThanOrEqual(0)
    expect(Number(figure('last_success_timestamp_seconds\\{job="test"\\}'))).toBeGreaterThan(1_700_000_000)
    for (const name of names) expect(text).toContain(`# TYPE ${name} `)
    if (promtool) {
      const { stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
        input: `${text.trimEnd()}\n`,
        encoding: 'utf8',
      })
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    }
  })

  test("metrics include the remaining calls of a job's budget", async () => {
    const dir = tempFolder()
    const emulator = await emulate()
    writeFileSync(
      join(dir, 'job.yaml'),
      'name: one\npace: { perSecond: 50, callsPerDay: 10 }\nseries:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-01-02 } }\n',
    )
    const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
    await runCli(dir, ['sync', 'job.yaml'], env)
    const { out } = await runCli(dir, ['status', '--format', 'prometheus', '--job', 'job.yaml'], env)
    expect(out).toContain('indicator_sync_calls_left{job="one"} 9\n')
    const withoutService = await runCli(dir, [
      'status',
      '--format',
      'prometheus',
      '--job',
      'job.yaml',
      '--service',
      'generic',
    ])
    expect(withoutService.out).not.toContain('indicator_sync_calls_left{')
  })

  test('every metric and notification field has one row in docs/monitoring.md', () => {
    const rows = [...readFileSync('docs/monitoring.md', 'utf8').matchAll(/^\| (`[^|]+`) \|/gm)].map(([, head]) => head!)
    const fields = rows.flatMap((head) => head.split(', '))
    expect(new Set(fields).size, 'a row twice').toBe(fields.length)
    expect(fields.filter((field) => field.startsWith('`indicator_sync_')).sort()).toEqual(
      names.map((name) => `\`${name}\``).sort(),
    )
  })
})

describe('alert rules and the dashboard', () => {
  const rules = (parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)

  test('alert rules and the dashboard use only existing metrics', () => {
    for (const file of ['alerts.yml', 'alerts.test.yml', 'grafana.json'])
      for (const name of mentioned(read(file))) expect(names, `${file}: ${name}`).toContain(name)
  })

  test('every rule has a unique name, a condition, a severity and a next step', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, expr, labels, annotations } of rules) {
      expect(alert).toMatch(/^IndicatorSync[A-Z]\w+$/)
      expect(mentioned(expr).length, alert).toBeGreaterThan(0)
      expect(['info', 'warning', 'critical']).toContain(labels.severity)
      expect(annotations.summary.length * annotations.description.length).toBeGreaterThan(0)
    }
    const watched = mentioned(rules.map(({ expr }) => expr).join('\n')).map((name) =>
      name.replace('indicator_sync_', ''),
    )
    for (const name of [
      'open_failures',
      'gaps',
      'stale_series',
      'quarantined',
      'missed_runs',
      'last_success_timestamp_seconds',
    ])
      expect(watched).toContain(name)
  })

  test('the rule tests expect the descriptions of the rules', () => {
    const { tests } = parse(read('alerts.test.yml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: { exp_annotations: { description: string } }[] }[] }[]
    }
    const expected = tests.flatMap(({ alert_rule_test }) => alert_rule_test)
    expect(expected.length).toBeGreaterThan(5)
    for (const { alertname, exp_alerts } of expected) {
      const rule = rules.find(({ alert }) => alert === alertname)
      expect(rule, alertname).toBeDefined()
      for (const { exp_annotations } of exp_alerts)
        expect(exp_annotations.description).toBe(rule!.annotations.description)
    }
  })

  test.runIf(promtool)('promtool finds no errors, and the rule tests pass', () => {
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: 'docs/monitoring', encoding: 'utf8' })
      expect(status, stdout + stderr).toBe(0)
    }
  })

  test('every panel of the dashboard has a position, a data source and a query', () => {
    const { panels, templating } = JSON.parse(read('grafana.json')) as {
      panels: { id: number; title: string; gridPos: Record<string, number>; targets: { expr: string }[] }[]
      templating: { list: { name: string; type: string }[] }
    }
    expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }])
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { title, gridPos, targets } of panels) {
      expect(gridPos.x! + gridPos.w!, title).toBeLessThanOrEqual(24)
      for (const { expr } of targets) expect(mentioned(expr).length, title).toBeGreaterThan(0)
    }
    const shown = mentioned(read('grafana.json'))
    for (const name of ['open_failures', 'gaps', 'stale_series', 'quarantined', 'calls_left', 'build_info'])
      expect(shown).toContain(`indicator_sync_${name}`)
  })
})
