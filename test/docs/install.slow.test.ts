import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandGroups, VARIABLES } from '../../build/manText.ts'
import { COMMON_FLAGS } from '../../src/cli/flags.ts'
import { emulate, runCli, tempFolder } from '../support/kit.ts'

const read = (file: string): string => readFileSync(file, 'utf8')
const lines = (text: string): string[] => text.replaceAll(/\\\n/g, ' ').split('\n')

const FLAGS = new Map([...(await commandGroups()).values()].flat().map(({ name, flags }) => [name, flags]))

/** Expects words to be an existing command with existing flags. */
function checkCommand(words: readonly string[]): void {
  const [name, ...rest] = words
  expect([...FLAGS.keys()]).toContain(name)
  const flags = FLAGS.get(name!)
  for (const flag of rest.filter((word) => word.startsWith('--')))
    expect(Object.keys({ ...flags, ...COMMON_FLAGS }), `${name} ${flag}`).toContain(flag.slice(2))
}

describe('the image', () => {
  const dockerfile = lines(read('Dockerfile')).filter((line) => line !== '' && !line.startsWith('#'))
  const of = (word: string): string[] =>
    dockerfile.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1).trim())

  test('the image copies only files that exist and are in its build context', () => {
    const allowed = lines(read('.dockerignore'))
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    for (const copied of of('COPY').filter((line) => !line.startsWith('--from='))) {
      for (const source of copied.split(/ +/).slice(0, -1)) {
        expect(existsSync(source), source).toBe(true)
        expect(
          allowed.some((path) => source === path || source.startsWith(`${path}/`)),
          `${source} in .dockerignore`,
        ).toBe(true)
      }
    }
    for (const path of allowed) expect(existsSync(path), path).toBe(true)
    // The image is built like the package.
    const built = (text: string): string[] => text.match(/-p \S+|build\/\w+\.ts/g) ?? []
    expect(built(of('RUN').join(' '))).toEqual(built(JSON.parse(read('package.json')).scripts.build))
  })

  test('the image has two stages of one runtime, an unprivileged user and a data volume', () => {
    const stages = of('FROM').map((line) => line.split(' ')[0])
    expect(stages).toEqual(['node:24-slim', 'node:24-slim'])
    expect(Number(/:(\d+)/.exec(stages[1]!)![1])).toBeGreaterThanOrEqual(22)
    expect(of('USER')).toEqual(['1000'])
    expect(of('VOLUME')).toEqual(['/data'])
    expect(of('ENTRYPOINT')).toEqual(['["indicator-sync"]'])
    const health = JSON.parse(/CMD (\[.*\])/.exec(of('HEALTHCHECK')[0]!)![1]!) as string[]
    expect(health[0]).toBe('indicator-sync')
    checkCommand(health.slice(1))
    for (const line of dockerfile) expect(line).not.toMatch(/API_KEY|curl|wget|apt-get/)
  })

  test('compose.yaml runs the image without unnecessary privileges', () => {
    const { services, volumes } = parse(read('compose.yaml'))
    for (const service of Object.values(services) as Record<string, unknown>[]) {
      checkCommand(service.command as string[])
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      for (const volume of service.volumes as string[]) {
        const source = volume.split(':')[0]!
        expect(source.startsWith('.') ? existsSync(source) : source in volumes, volume).toBe(true)
      }
    }
  })
})

test('the services of docs/compose run existing commands without unnecessary privileges', () => {
  const { services, volumes, name } = parse(read('docs/compose/postgres.yaml'), { merge: true })
  // An explicit name, because the default is the folder name, which other projects may share.
  expect(name).toBe(parse(read('compose.yaml')).name)
  const { schedule } = parse(read('compose.yaml')).services
  expect(services.worker).toMatchObject({ scale: 2 })
  for (const [name, { extends: base, ...own }] of Object.entries(services) as [string, Record<string, unknown>][]) {
    if (name === 'database') continue
    expect(base).toEqual({ file: '../../compose.yaml', service: 'schedule' })
    const service = { ...schedule, ...own }
    for (const volume of service.volumes.filter((one: string) => !one.startsWith('.')))
      expect(Object.keys(volumes)).toContain(volume.split(':')[0])
    checkCommand(service.command as string[])
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  }
})

describe('the systemd units', () => {
  const units = readdirSync('docs/systemd')

  test('units start existing commands and refer to existing units', () => {
    const service = read('docs/systemd/indicator-sync.service')
    for (const unit of ['indicator-sync', 'indicator-sync-serve', 'indicator-sync-worker@'])
      checkCommand(/^ExecStart=\S+ (.*)$/m.exec(read(`docs/systemd/${unit}.service`))![1]!.split(' '))
    // An outage (exit code 8) is a failure that is notified; an exhausted budget (4) is not.
    expect(service).toMatch(/^SuccessExitStatus=4$/m)
    expect(service).toMatch(/^OnFailure=indicator-sync-failed@%n\.service$/m)
    for (const [, file] of read('docs/install.md').matchAll(/\(systemd\/([^)]+)\)/g)) expect(units).toContain(file)
  })

  test('all units that run the program have the same protection', () => {
    const protection = (unit: string): string =>
      /^NoNewPrivileges=[\s\S]*?^UMask=\d+$/m.exec(read(`docs/systemd/${unit}.service`))![0]
    for (const unit of ['indicator-sync-serve', 'indicator-sync-worker@'])
      expect(protection(unit), unit).toBe(protection('indicator-sync'))
  })

  test('workers start again after a crash, but not after a refused key', () => {
    const worker = read('docs/systemd/indicator-sync-worker@.service')
    expect(worker).toMatch(/^Restart=on-failure$/m)
    expect(worker).toMatch(/^RestartPreventExitStatus=2 3 7$/m)
    expect(worker).toMatch(/^SuccessExitStatus=1 143$/m)
  })

  test.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)(
    'systemd-analyze reports no problems in the units',
    () => {
      const folder = tempFolder()
      for (const file of units)
        writeFileSync(
          join(folder, file),
          read(`docs/systemd/${file}`).replaceAll('/usr/local/bin/indicator-sync', '/bin/true'),
        )
      const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` }
      const files = [
        'indicator-sync.service',
        'indicator-sync.timer',
        'indicator-sync-serve.service',
        'indicator-sync-worker@1.service',
        'indicator-sync-failed@x.service',
      ]
      const verified = spawnSync('systemd-analyze', ['verify', ...files.map((file) => join(folder, file))], {
        env,
        encoding: 'utf8',
      })
      expect(verified.stderr).toBe('')
      for (const unit of ['indicator-sync', 'indicator-sync-serve', 'indicator-sync-worker@']) {
        const service = join(folder, `${unit}.service`)
        const security = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', service], {
          env,
          encoding: 'utf8',
        })
        expect(security.status, unit + security.stdout + security.stderr).toBe(0)
      }
    },
  )
})

describe('a backup', () => {
  const JOB =
    'name: one\npace: { perSecond: 50 }\nseries:\n  - { indicators: [1739, 600], geoIds: [3], window: { from: 2025-01-01, to: 2025-01-08 } }\n'
  const DATA = 'data/indicator-sync.db'

  test.each<[string, (dir: string) => Promise<unknown>]>([
    ['publish --bookkeeping', (dir) => runCli(dir, ['publish', '--bookkeeping', 'backup.db'])],
    ['the backup of SQLite', (dir) => new SQLite(join(dir, DATA)).backup(join(dir, 'backup.db'))],
  ])('a backup by %s restores everything, so that the next sync sends no requests', async (_name, backUp) => {
    const dir = tempFolder()
    writeFileSync(join(dir, 'job.yaml'), JOB)
    const emulator = await emulate()
    const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
    expect((await runCli(dir, ['sync', 'job.yaml'], env)).code).toBe(0)
    const count = [
      'query',
      'select (select count(*) from observation) as n, (select count(*) from _reply) as r',
      '--json',
    ]
    const before = (await runCli(dir, count)).out
    await backUp(dir)
    // Later data is lost with the disk.
    writeFileSync(join(dir, 'later.yaml'), JOB.replace('1739, 600', '1001'))
    expect((await runCli(dir, ['sync', 'later.yaml'], env)).code).toBe(0)
    const requests = emulator.requests.length
    for (const end of ['', '-wal', '-shm']) rmSync(join(dir, `${DATA}${end}`), { force: true })
    copyFileSync(join(dir, 'backup.db'), join(dir, DATA))
    expect((await runCli(dir, ['doctor'], env)).code).toBe(0)
    expect((await runCli(dir, count)).out).toBe(before)
    expect((await runCli(dir, ['sync', 'job.yaml'], env)).out).toMatch(/nothing to do/)
    expect(emulator.requests).toHaveLength(requests)
    expect((await runCli(dir, ['replay'], env)).code).toBe(0)
    expect((await runCli(dir, ['sync', 'later.yaml'], env)).code).toBe(0)
    expect(emulator.requests.length).toBeGreaterThan(requests)
    expect(statSync(join(dir, DATA)).size).toBeGreaterThan(0)
  })
})

test('the installation page and .env.example name every setting', async () => {
  const dir = tempFolder()
  await runCli(dir, ['init'])
  const settings = read('docs/install.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  for (const [variable, flag] of VARIABLES) {
    expect(
      settings.some((row) => row.includes(`\`${variable}`) && row.includes(flag)),
      variable,
    ).toBe(true)
    expect(read(join(dir, '.env.example'))).toMatch(new RegExp(`^#?${variable}=`, 'm'))
  }
})

test('the operation pages name only existing commands, flags and files', () => {
  for (const file of ['docs/install.md', 'docs/page.md', 'docs/monitoring.md']) {
    const page = read(file)
    for (const [, line] of page.matchAll(/^(?:.*&& )?indicator-sync ([a-z][^\n#>&|]*)/gm))
      checkCommand(line!.trim().split(/\s+/))
    for (const [, target] of page.matchAll(/\]\(((?!https?:)[^)#]+)\)/g))
      expect(existsSync(join('docs', target!)), `${file}: ${target}`).toBe(true)
  }
})
