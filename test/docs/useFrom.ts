/*
 * Runs the blocks of docs/use-from.md and docs/lake.md that are not marked as not run: `npm run test:use`. Requires
 * Java, and Python with pandas, pyarrow, polars, duckdb and pyspark.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { blocksOf } from './blocks.ts'

const BIN = resolve('src/cli/bin.js')
const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
const python = process.env.PYTHON ?? 'python3'
// Python calls `npx indicator-sync`.
mkdirSync(join(folder, 'bin'))
writeFileSync(join(folder, 'bin', 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${BIN}" "$@"\n`, {
  mode: 0o755,
})
const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
const run = (command: string, args: readonly string[]): void => {
  execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], env })
}
run(process.execPath, [BIN, 'demo', '--database', 'data/demo.db'])
try {
  for (const { language, text, heading, runs } of ['docs/use-from.md', 'docs/lake.md'].flatMap(blocksOf)) {
    if (!runs || (language !== 'python' && language !== 'sh')) continue
    process.stdout.write(`\n== ${heading}\n`)
    if (language === 'python') {
      writeFileSync(join(folder, 'block.py'), text)
      run(python, ['block.py'])
    } else
      for (const line of text.trim().split('\n'))
        if (line.startsWith('npx indicator-sync '))
          run('sh', [
            '-c',
            line
              .replace('npx', `"${process.execPath}"`)
              .replace('indicator-sync', `"${BIN}"`)
              .replace('python3', `"${python}"`),
          ])
  }
} finally {
  rmSync(folder, { recursive: true })
}
