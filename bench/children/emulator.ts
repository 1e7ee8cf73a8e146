/* The embedded service: `node emulator.ts key`; prints its address. */
import { startEmulator } from '../../src/emulator/emulator.ts'

const emulator = await startEmulator({ port: 0, key: process.argv[2]!, now: Date.parse('2025-11-04T12:00:00Z') / 1000 })
process.stdout.write(`${emulator.url}\n`)
process.on('SIGTERM', () => process.exit(0))
