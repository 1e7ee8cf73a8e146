import type { EngineProfile } from '../../db/open.ts'
import { DATABASE_FLAGS, FILE, JSON_FLAG, SERVICE_FLAGS } from '../flags.ts'
import type { Command } from './command.ts'

/** Named here, so that no command loads a database to know its flags. */
const ENGINE_PROFILES = Object.keys({ citus: true } satisfies Record<EngineProfile, true>)

/** Commands that look after the database, and the embedded service. */
export const MAINTENANCE_COMMANDS = {
  replay: {
    usage: 'replay',
    about: 'Rebuild the rows from the stored replies, without the network; in place, or into a new file',
    flags: {
      ...DATABASE_FLAGS,
      into: { ...FILE, describe: 'A new file that gets the rebuilt database; this one stays as it is' },
      incomplete: { type: 'boolean', default: false, describe: 'With --into: also when some replies were not kept' },
      ...JSON_FLAG,
    },
    example: 'replay --into rebuilt.db',
    run: async (args) => (await import('../commands/replay.ts')).run(args),
  },
  quarantine: {
    usage: 'quarantine <action> [ids..]',
    about: 'List what could not be understood, try it again with this version of the program, or dismiss it',
    positionals: {
      action: { type: 'string', choices: ['list', 'replay', 'dismiss'], describe: 'What to do' },
      ids: { type: 'number', array: true, describe: 'Numbers of entries to dismiss' },
    },
    flags: {
      ...DATABASE_FLAGS,
      all: { type: 'boolean', default: false, describe: 'List also what has been closed since' },
      reason: { type: 'string', describe: 'Why they are dismissed' },
      ...JSON_FLAG,
    },
    example: 'quarantine list',
    run: async (args) => (await import('../commands/quarantine.ts')).run(args),
  },
  prune: {
    usage: 'prune',
    about: 'Delete old reply bodies, or forget a deleted job; values stay',
    flags: {
      ...DATABASE_FLAGS,
      'older-than': {
        type: 'string',
        describe: 'Delete bodies last seen longer ago: 90d, 12w, 6mo, 2y',
      },
      job: { type: 'string', describe: 'Forget this job: name of a job whose file was deleted or renamed' },
      ...JSON_FLAG,
    },
    example: 'prune --older-than 180d',
    run: async (args) => (await import('../commands/prune.ts')).run(args),
  },
  doctor: {
    usage: 'doctor',
    about: 'Check configuration, key, clock, zone data, disk, database and lock',
    flags: {
      ...DATABASE_FLAGS,
      ...SERVICE_FLAGS,
      online: {
        type: 'boolean',
        default: false,
        describe: 'Call the service once: whether it is there, takes the key, and agrees on the time',
      },
      ...JSON_FLAG,
    },
    example: 'doctor --online',
    run: async (args) => (await import('../commands/doctor.ts')).run(args),
  },
  migrate: {
    usage: 'migrate',
    about: 'Bring the schema up to date; this also happens by itself when a sync opens the file',
    flags: {
      ...DATABASE_FLAGS,
      list: { type: 'boolean', default: false, describe: 'Only show the state' },
      from: {
        ...FILE,
        describe: 'Copy the database in this file into that of --database, which is on a server and empty',
      },
      'engine-profile': {
        choices: ENGINE_PROFILES,
        describe: 'Only print the SQL that divides the tables among the machines of such a server, for `psql`',
      },
      ...JSON_FLAG,
    },
    example: 'migrate --list',
    run: async (args) => (await import('../commands/migrate.ts')).run(args),
  },
  emulator: {
    usage: 'emulator',
    about: 'Serve an embedded copy of the service on this machine, for trying and testing',
    flags: {
      port: { type: 'number', default: 0, describe: 'Port; 0 for a free one' },
      host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on; this machine alone by default' },
      seed: { type: 'number', default: 1, describe: 'The same seed gives the same values' },
      faults: { ...FILE, describe: 'File of faults to meet (YAML, docs/emulator.md)' },
      script: { ...FILE, describe: 'File of scripted series (YAML, docs/emulator.md)' },
      'geo-days': { type: 'number', describe: 'A question about more days times geos is answered 504' },
      now: { type: 'string', describe: "The service's clock: an instant such as 2025-11-04T12:00:00Z" },
    },
    example: 'emulator --port 8080 --seed 7',
    endsWithOutput: true,
    run: async (args) => (await import('../commands/emulator.ts')).run(args),
  },
  completion: {
    usage: 'completion <shell>',
    about: 'Print the script with which a shell completes commands, flags, their words and files',
    positionals: { shell: { type: 'string', choices: ['bash', 'zsh', 'fish'], describe: 'Your shell' } },
    flags: {},
    example: 'completion bash >> ~/.bashrc',
    run: async (args, commands) => (await import('./completion.ts')).run(args, commands),
  },
} as const satisfies Record<string, Command>
