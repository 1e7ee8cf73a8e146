import { resolve } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../../vitest.config.ts'

const OPEN = resolve('src/db/open.ts')
const HERE = import.meta.dirname

/** Settings of the suites on PostgreSQL, for `run.ts`. */
export default mergeConfig(
  base,
  defineConfig({
    root: resolve(HERE, '../../..'),
    plugins: [
      {
        name: 'databases on a server',
        enforce: 'pre',
        resolveId(source, importer) {
          if (!source.endsWith('/open.ts') || importer === undefined || importer.startsWith(`${HERE}/`)) return null
          return resolve(importer, '..', source) === OPEN ? `${HERE}/open.ts` : null
        },
      },
    ],
    test: { setupFiles: ['test/postgres/suites/setup.ts'], env: { INDICATOR_SYNC_TEST_ON: 'postgres' } },
  }),
)
