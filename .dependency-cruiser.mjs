/** The layers of `src`, from the top down. A folder imports itself and lower layers, never its neighbours. */
const LAYERS = [
  ['cli'],
  ['index.ts'],
  ['library.ts', 'page'],
  ['cluster', 'emulator'],
  ['sync'],
  ['findings'],
  ['plan', 'fetch', 'transform', 'load', 'reports', 'lake'],
  ['state'],
  ['judge'],
  ['db', 'job'],
  ['db/tables'],
  ['service'],
  ['util'],
]

/** The same for the folders of `src/cli`. */
const CLI_LAYERS = ['commandLine', 'commands', 'jobs', 'exports', 'statements', 'text', 'settings', 'terminal']

/** The files that may use each package, so that it can be replaced there. The types of kysely are used wherever tables are read. */
const PACKAGE_USERS = {
  'better-sqlite3': ['db/sqlite/'],
  pg: ['db/postgres/'],
  'pg-connection-string': ['db/postgres/'],
  'pg-boss': ['cluster/'],
  'p-queue': ['fetch/', 'page/statementQueue.ts'],
  'p-retry': ['fetch/'],
  undici: ['fetch/'],
  pino: ['util/log.ts'],
  'pino-pretty': ['util/log.ts'],
  'fastest-levenshtein': ['util/'],
  yargs: ['cli/'],
  croner: ['cli/jobs/dueTimes.ts', 'job/', 'state/rhythm.ts'],
  'string-width': ['cli/terminal/width.ts'],
  '@hono/node-server': ['emulator/', 'page/pageServer.ts'],
  hono: ['emulator/', 'page/html.ts', 'page/security.ts', 'page/pageServer.ts'],
  uplot: ['page/client/', 'page/assets.ts'],
  '@github/combobox-nav': ['page/client/', 'page/assets.ts'],
  yauzl: ['util/zip.ts'],
  zod: ['job/', 'emulator/', 'service/'],
  yaml: ['job/', 'cli/'],
  'html-to-text': ['transform/'],
  'hyparquet-writer': ['cli/exports/parquet.ts', 'lake/parquetFile.ts'],
  hyparquet: ['cli/exports/', 'lake/'],
  'write-excel-file': ['cli/exports/xlsx.ts'],
  '@aws-sdk/client-s3': ['lake/places/s3.ts'],
  '@e965/xlsx': ['util/workbook.ts'],
}

/** Pure folders, and the files of `load` that only decide. */
const PURE = ['^src/(service|db/tables|job|judge|plan|transform)/', '^src/load/decide', '^src/load/[^/]+/decide']

const error = (name, comment, from, to) => ({ severity: 'error', name, comment, from, to })
/** A pattern of folders and files of `src`. */
const within = (names) =>
  `^src/(${names.map((name) => (name.endsWith('.ts') ? `${name.replace('.', '\\.')}$` : `${name}/`)).join('|')})`
const packageOf = (name) => `(^|/)node_modules/(@types/)?${name}/`

const layers = LAYERS.flatMap((layer, index) => {
  const below = LAYERS.slice(index + 1).flat()
  return layer.map((name) =>
    error(
      `layer-${name}`,
      'A file imports its own folder or a layer below it.',
      { path: within([name]), ...(below.length === 0 ? {} : { pathNot: within(below) }) },
      { path: '^src/', pathNot: within([name, ...below]) },
    ),
  )
})

const cliLayers = CLI_LAYERS.slice(1).map((name, index) =>
  error(
    `layer-cli-${name}`,
    'A file of the command line imports its own folder or one below it.',
    { path: `^src/cli/${name}/` },
    { path: `^src/cli/(${CLI_LAYERS.slice(0, index + 1).join('|')})/` },
  ),
)

const packageUsers = Object.entries(PACKAGE_USERS).map(([name, places]) =>
  error(
    `door-${name}`,
    'Only the files in PACKAGE_USERS may use this package, so that it can be replaced in one place.',
    { path: '^src/', pathNot: places.map((place) => `^src/${place}`) },
    { path: packageOf(name) },
  ),
)

export default {
  forbidden: [
    ...layers,
    ...cliLayers,
    ...packageUsers,
    error('no-circular', 'Circular import.', {}, { circular: true }),
    error('resolvable', 'The file or package does not exist.', {}, { couldNotResolve: true }),
    error(
      'known-folder',
      'Add the folder to LAYERS in .dependency-cruiser.mjs.',
      { path: '^src/', pathNot: within(LAYERS.flat()) },
      { path: '^src/' },
    ),
    error(
      'pure',
      'Tests of pure files need no mocks: no database, disk, network or process.',
      { path: PURE },
      { path: ['^src/db/', '^src/util/files/'], pathNot: '^src/db/tables/' },
    ),
    error(
      'pure-of-node',
      'Tests of pure files need no mocks: no database, disk, network or process.',
      { path: PURE },
      { dependencyTypes: ['core'], pathNot: '^(node:)?buffer$' },
    ),
    error(
      'emulator-alone',
      'The emulator imitates the service independently of the program that calls it.',
      { path: '^src/emulator/' },
      { path: '^src/', pathNot: '^src/(emulator|util|service)/' },
    ),
    error(
      'page-reads',
      'The page shows what is stored. It does not fetch.',
      { path: '^src/page/' },
      { path: '^src/', pathNot: '^src/(page|util|service|db|job|findings|reports|state|transform|lake)/' },
    ),
    error(
      'one-database',
      'Only src/db/open.ts chooses the database.',
      { path: '^src/', pathNot: '^src/db/(open\\.ts|sqlite/|postgres/)' },
      { path: '^src/db/(sqlite|postgres)/' },
    ),
    error(
      'two-databases',
      'Neither database imports the other.',
      { path: '^src/db/(sqlite|postgres)/' },
      { path: '^src/db/(sqlite|postgres)/', pathNot: '^src/db/$1/' },
    ),
    error('migrations', 'Only db runs migrations.', { path: '^src/(?!db/)' }, { path: '^migrations/' }),
    error(
      'runtime-packages',
      'An installed copy has no development packages.',
      { path: '^(src|migrations)/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    ),
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
