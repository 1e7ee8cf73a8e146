import { createLog, type Logger } from '../../util/log.ts'
import type { CommonArgs } from '../command.ts'
import { clearLine } from './progress.ts'

/** Whether colours are wanted on a stream: it is a terminal, and NO_COLOR is not set. */
const colored = (stream: NodeJS.WriteStream): boolean => stream.isTTY === true && !process.env.NO_COLOR

/** The log of a command, on stderr. */
export const logFor = ({ quiet, verbose, logFormat }: CommonArgs, secrets: readonly string[]): Logger =>
  createLog({
    level: quiet ? 'warn' : verbose ? 'debug' : 'info',
    format: logFormat,
    color: colored(process.stderr),
    secrets,
    before: clearLine,
  })
