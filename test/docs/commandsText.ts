import type { Options } from 'yargs'
import { defaultOf, valueWord } from '../../build/manText.ts'
import { EXIT_CODES } from '../../src/cli/commandLine/exitCodes.ts'
import { COMMAND_GROUPS, VARIABLES } from '../../src/cli/commandLine/help.ts'
import { COMMON_FLAGS } from '../../src/cli/flags.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** Flags as rows of a table. */
const flagRows = (flags: Readonly<Record<string, Options>>): string[] => [
  '| flag | default | meaning |',
  '|---|---|---|',
  ...Object.entries(flags).map(([name, options]) => {
    const value = valueWord(options)
    const many = options.type !== 'boolean' && 'array' in options && options.array ? ' …' : ''
    const must = options.demandOption ? 'required' : defaultOf(options)
    return `| \`--${name}${cell(value === '' ? '' : ` ${value}`)}\`${many} | ${must} | ${cell(options.describe ?? '')} |`
  }),
]

/** What `docs/commands.md` says: every command with its flags and an example, from the declarations of the commands. */
export function commandsText(): string {
  const parts = COMMAND_GROUPS.flatMap(({ title, commands }) => [
    `## ${title}`,
    ...Object.entries(commands).flatMap(([name, { usage, about, flags, positionals = {}, example }]) => [
      `### \`${name}\``,
      `${about}.`,
      `\`\`\`sh\nindicator-sync ${usage}\n\`\`\``,
      ...(Object.keys(positionals).length > 0
        ? [
            Object.entries(positionals)
              .map(([positional, options]) => {
                const legal = options.choices ? ` (${options.choices.join(' or ')})` : ''
                return `- \`${positional}\`: ${options.describe ?? ''}${legal}.`
              })
              .join('\n'),
          ]
        : []),
      ...(Object.keys(flags).length > 0 ? [flagRows(flags).join('\n')] : []),
      `Example: \`indicator-sync ${example}\``,
    ]),
  ])
  return `${[
    '# Commands',
    'Results go to stdout, everything else to stderr. From a clone the command is `npx indicator-sync`. This page is made from the code: `npm run docs` writes it anew.',
    ...parts,
    '## Flags of every command',
    flagRows(COMMON_FLAGS).join('\n'),
    '## Variables',
    'A `.env` in the working directory is read; real variables win over it, flags win over both.',
    [
      '| variable | flag | meaning |',
      '|---|---|---|',
      ...VARIABLES.map(([name, flag, means]) => `| \`${name}\` | \`${flag}\` | ${means} |`),
    ].join('\n'),
    '## Exit codes',
    ['| code | meaning |', '|---|---|', ...EXIT_CODES.map(([code, means]) => `| ${code} | ${means} |`)].join('\n'),
  ].join('\n\n')}\n`
}
