import { InputError } from '../util/errors.ts'

/** Why a program cannot listen on an address, by error code. */
const CAUSES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses the port',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'permission denied',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EINVAL: 'the address is not valid',
}

/** Throws if the value of `--port` is not a port. */
export function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InputError(`--port ${port} is not valid; expected a whole number from 0 to 65535.`, { code: 'bad-port' })
}

/** Turns an error of listening into an InputError with its cause in words; returns other errors unchanged. */
export function createListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const cause = CAUSES[error.code ?? '']
  if (cause === undefined) return error
  return new InputError(`Cannot listen on ${host}, port ${port}: ${cause}.`, {
    hint: 'Pass another --port or --host. Without them, a free port of 127.0.0.1 is used.',
    code: 'cannot-listen',
    cause: error,
  })
}
