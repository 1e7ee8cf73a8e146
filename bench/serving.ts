import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { untilTheEnd } from './measure.ts'

/** A service in a separate process. */
export interface Serving {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a server and waits until it prints its address. */
export async function startServing(file: string, args: readonly string[]): Promise<Serving> {
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
