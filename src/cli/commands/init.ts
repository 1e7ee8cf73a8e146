import { constants, copyFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LIVE } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import { makeFolder } from '../../util/files/targetFolder.ts'
import { packageFile } from '../../util/package.ts'
import { describeSystemError } from '../../util/systemErrors.ts'
import { shellWord } from '../../util/text.ts'
import { type Args, programName } from '../command.ts'
import { DEFAULT_DATABASE } from '../flags.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export const positionals = { dir: { type: 'string', default: '.', describe: 'Folder' } } as const
export const flags = {} as const
export const examples = ['init', 'init my-market']

const ENVIRONMENT = `# Copy to .env and add your key. Flags override variables, variables override this file.
# ${LIVE} is the live service; generic needs a base URL.
INDICATOR_SYNC_SERVICE=${LIVE}
#INDICATOR_SYNC_BASE_URL=https://service.example
INDICATOR_SYNC_API_KEY=
#INDICATOR_SYNC_DATABASE=${DEFAULT_DATABASE}
# 1: send the key unencrypted (http) to another machine.
#INDICATOR_SYNC_ALLOW_HTTP=1
# HTTP proxy. Default: HTTPS_PROXY or HTTP_PROXY. NO_PROXY applies.
#INDICATOR_SYNC_PROXY=http://proxy.example:3128
# Token of the page for other computers: 16 letters or digits and more. Otherwise serve makes a new one at each start.
#INDICATOR_SYNC_PAGE_TOKEN=
# Webhook URL that is notified of each run; healthchecks.io URLs get pings.
#INDICATOR_SYNC_NOTIFY=https://hooks.example.org/T0/B0/xyz
`

/** Writes a file unless it exists; returns a line about it. */
function writeNew(file: string, write: (file: string) => void): string {
  try {
    write(file)
    return `written  ${file}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return `kept     ${file} (exists)`
    throw new InputError(`${file} ${describeSystemError(error)}.`, { code: 'cannot-write', cause: error })
  }
}

export async function handler({ dir }: Args<typeof flags, typeof positionals>): Promise<number> {
  const jobs = join(dir, 'jobs')
  makeFolder(jobs)
  const written = ['nightly.yaml', 'job.schema.json'].map((name) =>
    writeNew(join(jobs, name), (file) => copyFileSync(packageFile(`jobs/${name}`), file, constants.COPYFILE_EXCL)),
  )
  print(
    [
      ...written,
      writeNew(join(dir, '.env.example'), (file) => writeFileSync(file, ENVIRONMENT, { flag: 'wx', mode: 0o600 })),
      '',
      'Next:',
      ...(resolve(dir) === process.cwd() ? [] : [`  cd ${shellWord(dir)}`]),
      '  cp .env.example .env        # then add your API key',
      `  ${programName()} plan jobs/nightly.yaml`,
      `  ${programName()} sync jobs/nightly.yaml`,
    ].join('\n'),
  )
  return EXIT.done
}
