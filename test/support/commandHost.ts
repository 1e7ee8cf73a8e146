/*
 * Runs commands one after another, each with its folder and environment, and marks the end on both outputs. Started
 * only by tests (`runCommand`), with the path of the program.
 */
import { resolve } from 'node:path'

/** A command to run. */
export interface HostedCommand {
  readonly cwd: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Marks the end of a command's output; no command writes this character. */
export const END = '\u0000'

if (import.meta.main) {
  const { main } = (await import(process.argv[2]!)) as typeof import('../../src/cli/main.ts')
  for (const output of [process.stdout, process.stderr]) output.setMaxListeners(0)
  process.on('message', async ({ cwd, args, env }: HostedCommand) => {
    process.chdir(cwd)
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
    Object.assign(process.env, env)
    process.argv = [process.execPath, resolve(import.meta.dirname, '../../src/cli/bin.js'), ...args]
    process.exitCode = undefined
    await main(args)
    process.stdout.write(END)
    process.stderr.write(END)
    process.send!(process.exitCode ?? 0)
    process.exitCode = undefined
  })
  process.on('disconnect', () => process.exit())
}
