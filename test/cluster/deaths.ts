/**
 * Preloaded into a worker (`node --import`) to kill it at one of its statements, without support in the program.
 * `DIES_AT`: a regular expression; `DIES_WHEN`: before or after; `DIES_NTH`: at which match; `DIES_BY`: another signal,
 * such as SIGSTOP.
 */
import { writeSync } from 'node:fs'
import pg from 'pg'

const { DIES_AT, DIES_WHEN = 'after', DIES_NTH = '1', DIES_BY = 'SIGKILL' } = process.env

if (DIES_AT) {
  const at = new RegExp(DIES_AT, 'i')
  let left = Number(DIES_NTH)
  const die = (): void => {
    writeSync(2, `${DIES_BY} here\n`)
    process.kill(process.pid, DIES_BY)
  }
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const { query } = client
  client.query = function (...args) {
    const [first] = args
    const text = typeof first === 'string' ? first : ((first as { text?: string } | undefined)?.text ?? '')
    if (!at.test(text) || --left !== 0) return query.apply(this, args)
    if (DIES_WHEN === 'before') {
      die()
      return new Promise(() => undefined)
    }
    const answer = query.apply(this, args)
    if (answer instanceof Promise) void answer.then(die, die)
    return answer
  }
}
