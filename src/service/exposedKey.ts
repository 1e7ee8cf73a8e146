import { InputError } from '../util/errors.ts'
import { isHere } from '../util/host.ts'

/** Whether the key would be sent unencrypted to another machine. */
export const isExposed = (baseUrl: string): boolean => new URL(baseUrl).protocol === 'http:' && !isHere(baseUrl)

/** Refuses to send the key unencrypted to another machine, unless that is allowed. */
export function refuseExposed({
  baseUrl,
  allowHttp = false,
}: {
  readonly baseUrl: string
  readonly allowHttp?: boolean | undefined
}): void {
  if (allowHttp || !isExposed(baseUrl)) return
  throw new InputError(`The key would be sent to ${baseUrl} unencrypted, and everybody on the way could read it.`, {
    hint: 'Use https://. In a network that you trust, set INDICATOR_SYNC_ALLOW_HTTP=1; a program sets allowHttp.',
    code: 'plain-http',
  })
}
