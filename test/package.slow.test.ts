import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commandLine/commands.ts'
import { installPacked } from './support/installPacked.ts'
import { tempFolder } from './support/kit.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const manifest = JSON.parse(read('package.json'))
const lock = JSON.parse(read('package-lock.json'))

describe('the installed package', () => {
  test('npm compiles nothing, because better-sqlite3 contains its binaries', () => {
    expect(lock.packages['node_modules/better-sqlite3'].gypfile).toBe(false)
    expect(manifest.allowScripts).toEqual({ 'better-sqlite3': false, node: true })
  })

  test('the lock file names no host and matches the manifest', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/)
    expect(lock.packages[''].dependencies).toEqual(manifest.dependencies)
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies)
  })

  test('npm changes nothing in a clone, because bin files are already executable', () => {
    for (const file of Object.values(manifest.bin as Record<string, string>))
      expect(statSync(file).mode & 0o100, file).toBe(0o100)
  })

  test('an install on an older Node prints one line, and uses the bundled runtime', () => {
    expect(read('.npmrc')).toMatch(/^loglevel=error$/m)
    expect(manifest.devDependencies.node).toMatch(/^\^2[4-9]/)
    // npm warns of scripts that it would run on installation. `prepare` runs only in a clone.
    for (const name of ['preinstall', 'install', 'postinstall']) expect(manifest.scripts).not.toHaveProperty(name)
  })

  test('an older Node version gets one sentence', () => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } })`
    const { status, stderr } = spawnSync(
      process.execPath,
      [`--import=data:text/javascript,${encodeURIComponent(old)}`, 'src/cli/bin.js', 'demo'],
      { encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^indicator-sync needs Node 22\.18 .* Node 20\.11\.0: [^.]+\.\n$/),
    ])
  })

  test('a release names the repository that publishes it', () => {
    const workflow = read('.github/workflows/release.yml')
    for (const field of ['repository.url', 'homepage', 'bugs.url'])
      expect(workflow).toMatch(new RegExp(`npm pkg set .*"${field}=`))
  })

  test('the packed package runs in an empty folder', async () => {
    const folder = tempFolder()
    const node = process.execPath
    const app = installPacked(folder)
    for (const file of manifest.files)
      expect(['dist', 'src/cli/bin.js', 'jobs', 'docs', 'CHANGELOG.md']).toContain(file)
    // `man` finds only pages in a list.
    expect(Array.isArray(manifest.man)).toBe(true)
    const manual = read(join(app, manifest.man[0]))
    expect(manual).toContain(`"indicator\\-sync ${manifest.version}"`)
    for (const name of Object.keys(COMMANDS)) expect(manual).toContain(`.SS "indicator\\-sync ${name}`)
    const printed = execFileSync(node, [join(app, 'src/cli/bin.js'), '--version'], { cwd: folder, encoding: 'utf8' })
    expect(printed).toBe(`${manifest.version}\n`)
    const out = execFileSync(node, [join(app, 'src/cli/bin.js'), 'migrate'], { cwd: folder, encoding: 'utf8' })
    expect(out).toMatch(/has schema/)
    // The build bundles packages of many modules, with their licences, into few files of one folder.
    for (const file of globSync('dist/program/*.js', { cwd: app }))
      expect(read(join(app, file)), file).not.toMatch(/^import .* from ["'](kysely|yaml|yargs|zod|\.\.)/m)
    expect(globSync('dist/{src,migrations}/**/*.js', { cwd: app })).toEqual([])
    for (const name of ['kysely', 'yaml', 'yargs', 'zod'])
      expect(read(join(app, 'dist/program/LICENSES'))).toContain(
        `${name} ${lock.packages[`node_modules/${name}`].version}`,
      )
    execFileSync(node, [join(app, 'src/cli/bin.js'), 'init'], { cwd: folder })
    execFileSync(
      node,
      [
        '-e',
        `import('indicator-sync').then(({ ROUTES }) => process.exit(ROUTES.widget ? 0 : 1))`,
        '--input-type=module',
      ],
      { cwd: app },
    )
    // Modules that a sync without requests and the first page load: finding a file costs as much as running a large
    // one.
    const witness = join(folder, 'witness.mjs')
    writeFileSync(
      witness,
      `import { registerHooks } from 'node:module'
       const files = []
       registerHooks({ load: (url, context, next) => { if (url.startsWith('file:')) files.push(url); return next(url, context) } })
       process.on('exit', () => process.stderr.write(' files: ' + files.length + ' ' + files.join(' ')))`,
    )
    const env = { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(witness).href}` }
    for (const args of [['status'], ['validate', resolve('jobs/demo.yaml')]]) {
      const { stderr } = spawnSync(node, [join(app, 'src/cli/bin.js'), ...args], { cwd: folder, encoding: 'utf8', env })
      expect(Number(/files: (\d+)/.exec(stderr)?.[1]), args[0]).toBeLessThan(60)
      expect(stderr, `${args[0]} needs nothing of the page`).not.toMatch(/\/page-[\w-]+\.js/)
    }
    const others = globSync('dist/program/{sync,job,load,emulator}-*.js', { cwd: app })
    expect(others.length).toBeGreaterThan(0)
    for (const file of others)
      expect(read(join(app, file)), `${file} needs nothing of the page`).not.toMatch(/from ?"\.\/page-/)
    // Scripts for the browser are JavaScript with the names of their imports.
    const server = spawn(node, [join(app, 'src/cli/bin.js'), 'serve', '--port', '0'], { cwd: folder })
    let url = ''
    for await (const line of createInterface({ input: server.stdout })) {
      url = /http:\S+(?=\/ )/.exec(line)?.[0] ?? ''
      if (url !== '') break
    }
    const page = await (await fetch(url)).text()
    const client = /\/-\/[\w-]+\//.exec(page)![0]
    for (const file of readdirSync('src/page/client').filter((name) => name.endsWith('.ts'))) {
      const answer = await fetch(`${url}${client}${file.replace('.ts', '.js')}`)
      expect([answer.status, answer.headers.get('content-type')], file).toEqual([200, 'text/javascript; charset=utf-8'])
      const text = await answer.text()
      expect(text).not.toMatch(/^(interface|type) /m)
      for (const [, imported] of text.matchAll(/(?<!')\bfrom\s*'([^']+)'/g))
        expect(imported).toMatch(/^\.\/[\w-]+\.js$/)
    }
    // A statement runs in its own process.
    expect(await (await fetch(`${url}/sql.json?sql=select+41%2B1`)).text()).toContain('42')
    server.kill()
  })
})

describe('texts in the package', () => {
  test('every link of a documentation page leads to an existing file', () => {
    const pages = ['README.md', ...(readdirSync('docs', { recursive: true }) as string[]).map((name) => `docs/${name}`)]
    for (const page of pages.filter((name) => name.endsWith('.md')))
      for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g))
        expect(existsSync(join(dirname(page), link!)), `${page} → ${link}`).toBe(true)
  })

  test('no hint names an unknown command', () => {
    const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
    for (const file of files)
      for (const [, name] of read(join('src', file)).matchAll(/indicator-sync ([a-z]+)\b(?=[ `"]|$)/gm))
        if (!['needs', 'supports'].includes(name!))
          expect(Object.keys(COMMANDS), `${file}: indicator-sync ${name}`).toContain(name)
  })
})
