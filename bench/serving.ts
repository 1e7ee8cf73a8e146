import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { untilTheEnd } from './measure.ts'

/** A service in a process of its own, as it is on another machine. */
export interface Serving {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a process that prints its address, and finds that in what it prints first. */
export async function serving(file: string, args: readonly string[]): Promise<Serving> {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: untilTheEnd,
  })
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) {
    const url = /http:\/\/[\w.:]+/.exec(line)?.[0]
    if (!url) continue
    child.stdout!.resume()
    return {
      url,
      pid: child.pid!,
      async stop() {
        child.kill()
        await once(child, 'exit')
      },
    }
  }
  throw new Error(`${file} ended before it listened`)
}
