/* Runs one command of a sequence in a process to be killed: `node test/model/child.ts '<json of Orders>'`. */
import type { Emulator } from '../../src/emulator/startEmulator.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import { openProgram } from './program.ts'

/** The input of the process. */
export interface Orders {
  readonly file: string
  readonly service: Pick<Emulator, 'url' | 'key'>
  readonly now: number
  /** Null for `retry`. */
  readonly yaml: string | null
  readonly command: string
  readonly options: UserOptions
}

const { file, service, now, yaml, command, options } = JSON.parse(process.argv[2]!) as Orders
const program = await openProgram(file, service)
process.stdout.write('ready\n')
await (yaml === null ? program.retry(now) : program.sync(yaml, now, command, options))
await program.close()
