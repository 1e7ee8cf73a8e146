/*
 * Makes the program of a package: `node build/program.ts [dist]` writes what the compiler would make of `src` and `migrations`
 * as few files in one folder, `dist/program`, with the packages in them that have many modules and are loaded by every
 * command. Node takes a fifth of a millisecond and more to find and link a module, however small it is. What is imported on
 * demand stays a file of its own, and is loaded on demand. The scripts of the page are written without their types. The manual
 * page goes beside that folder. In a clone, `prepare.js` runs this after `npm ci`.
 */
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { type OutputOptions, rolldown } from 'rolldown'
import { manText } from './manText.ts'

/** The entry points of the bundle: the library, and what `bin.js` loads. */
const ENTRIES = ['src/index.ts', 'src/cli/main.ts']
/** The entry point of the process that runs SQL statements: a single file with all that it imports. */
const ALONE = ['src/reports/statements/statementChild.ts']

/** Packages that become part of the program, with what they need themselves. All others are loaded from where they are installed. */
const INSIDE = [
  '@date-fns/utc',
  '@hono/node-server',
  'croner',
  'date-fns',
  'fastest-levenshtein',
  'hono',
  'kysely',
  'p-queue',
  'p-retry',
  'undici',
  'yaml',
  'yargs',
  'zod',
]

/**
 * What is loaded together is one file: each of these takes the modules that match and all that they import, but for what one
 * before it has. So a file imports only those before it.
 */
const FILES: readonly (readonly [name: string, modules: RegExp])[] = [
  ['help', /cli.(main|commandLine.help)\.ts$/],
  ['terminal', /commandLine.runCommandLine\.ts$/],
  ['database', /db.(sqlite.)?(open|lock)\.ts$/],
  ['findings', /\/(findings.(readStatus|metrics|findFindings|findGaps)|reports.lastRuns)\.ts$/],
  [
    'command',
    /(cli.(settings.(config|databases)|terminal.output|jobs.lakes|listening)|util.(host|text|log|events|time.localDay)|queries.catalogueNames|job.entryRoutes)\.ts$/,
  ],
  ['http', /node_modules.(@hono|hono).|util.listen\.ts$/],
  ['page', /(commands.serve|views.home)\.ts$/],
  ['job', /job.(file|read)\.ts$/],
  ['sync', /jobs.runAndPrint\.ts$/],
  ['status', /commands.(status|query|show)\.ts$/],
]

// `stripTypeScriptTypes` is experimental.
process.removeAllListeners('warning')

const root = resolve(import.meta.dirname, '..')
const dist = resolve(process.argv[2] ?? join(root, 'dist'))
const folder = join(dist, 'program')
/** The folder is renamed when it is complete: a command that starts before finds the earlier program, or none. */
const part = `${folder}.part`

const { version, dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const outside = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !INSIDE.includes(name))

/** Whether a module is not bundled: it belongs to Node, or to a package that our own modules import. */
const isOutside = (id: string, importer = ''): boolean =>
  id.startsWith('node:') ||
  (!importer.includes('node_modules') && outside.some((name) => id === name || id.startsWith(`${name}/`)))

/** Bundles some entry points, and returns the ids of the bundled modules. */
async function write(
  entries: readonly string[],
  codeSplitting: NonNullable<OutputOptions['codeSplitting']>,
): Promise<string[]> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [basename(file, '.ts'), file])),
    external: isOutside,
    platform: 'node',
    // What yaml has for Node alone is no ECMAScript module, and what it exports would have no names here.
    resolve: {
      conditionNames: ['import', 'default'],
      alias: { 'string-width': join(root, 'build/stringWidth.ts') },
    },
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message)
    },
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
  // Comments are read at every start; those of packages are as long as their code.
  const { output } = await bundle.write({ dir: part, format: 'esm', comments: false, ...names, codeSplitting })
  await bundle.close()
  return output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
}

/** The licences of the packages that modules belong to, for each of them wants its own to go with it. */
function licencesOf(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
  return [...packages]
    .map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: path })
      if (file === undefined) throw new Error(`${path} has no licence to go with it.`)
      return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
    })
    .join('\n---\n\n')
}

const groups = FILES.map(([name, test], i) => ({ name, test, priority: FILES.length - i }))
rmSync(part, { recursive: true, force: true })
const modules = [await write(ENTRIES, { groups })]
for (const entry of ALONE) modules.push(await write([entry], false))
writeFileSync(join(part, 'LICENSES'), licencesOf(modules.flat()))
mkdirSync(join(part, 'client'))
for (const file of globSync('src/page/client/*.ts', { cwd: root }))
  writeFileSync(
    join(part, 'client', `${basename(file, '.ts')}.js`),
    stripTypeScriptTypes(readFileSync(join(root, file), 'utf8')),
  )
rmSync(folder, { recursive: true, force: true })
renameSync(part, folder)
writeFileSync(join(dist, 'indicator-sync.1'), await manText(version))
