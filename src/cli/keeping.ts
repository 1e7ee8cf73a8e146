import type { Command } from './command.ts'
import { DATABASE, JSON_FLAG, SERVICE } from './flags.ts'

/** Commands that look after the database, and the embedded service. */
export const KEEPING = {
  replay: {
    usage: 'replay',
    about: 'Rebuild the rows from the stored replies, without the network; in place, or into a new file',
    flags: {
      ...DATABASE,
      into: { type: 'string', describe: 'A new file that gets the rebuilt database; this one stays as it is' },
      incomplete: { type: 'boolean', default: false, describe: 'With --into: also when some replies were not kept' },
      ...JSON_FLAG,
    },
    example: 'replay --into rebuilt.db',
    run: async (args) => (await import('./replay.ts')).run(args),
  },
  quarantine: {
    usage: 'quarantine <action>',
    about: 'List what could not be understood, or try it again with this version of the program',
    positionals: { action: { type: 'string', choices: ['list', 'replay'], describe: 'What to do' } },
    flags: {
      ...DATABASE,
      all: { type: 'boolean', default: false, describe: 'List also what has been understood since' },
      ...JSON_FLAG,
    },
    example: 'quarantine list',
    run: async (args) => (await import('./quarantine.ts')).run(args),
  },
  prune: {
    usage: 'prune',
    about: 'Drop the bodies of old replies; rows, history and what quarantine needs stay',
    flags: {
      ...DATABASE,
      'older-than': { type: 'string', demandOption: true, describe: 'Bodies last seen longer ago than this: 90d, 2y' },
      ...JSON_FLAG,
    },
    example: 'prune --older-than 180d',
    run: async (args) => (await import('./prune.ts')).run(args),
  },
  doctor: {
    usage: 'doctor',
    about: 'Check configuration, key, clock, zone data, disk, database and lock',
    flags: { ...DATABASE, ...SERVICE, ...JSON_FLAG },
    example: 'doctor',
    run: async (args) => (await import('./doctor.ts')).run(args),
  },
  migrate: {
    usage: 'migrate',
    about: 'Bring the schema up to date; this also happens by itself when a sync opens the file',
    flags: { ...DATABASE, list: { type: 'boolean', default: false, describe: 'Only show the state' }, ...JSON_FLAG },
    example: 'migrate --list',
    run: async (args) => (await import('./migrate.ts')).run(args),
  },
  emulator: {
    usage: 'emulator',
    about: 'Serve an embedded copy of the service on this machine, for trying and testing',
    flags: {
      port: { type: 'number', default: 0, describe: 'Port; 0 for a free one' },
      seed: { type: 'number', default: 1, describe: 'The same seed gives the same values' },
      faults: { type: 'string', describe: 'File of faults to meet (YAML, docs/emulator.md)' },
      now: { type: 'string', describe: "The service's clock: an instant such as 2025-11-04T12:00:00Z" },
    },
    example: 'emulator --port 8080 --seed 7',
    run: async (args) => (await import('./emulator.ts')).run(args),
  },
} as const satisfies Record<string, Command>
