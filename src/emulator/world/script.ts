import { z } from 'zod'
import { type Instant, parseInstant } from '../../util/time/instant.ts'

const scriptedInstant = z.union([
  z.int(),
  z.string().transform((text, context): Instant => {
    const at = parseInstant(text)
    if (Number.isNaN(at)) context.addIssue('is not a valid instant; expected 2025-11-04T12:00:00Z')
    return at
  }),
])

const resolution = z.strictObject({
  from: scriptedInstant.describe('The first instant with this resolution'),
  every: z.union([z.int().positive(), z.enum(['day', 'month', 'year', 'irregular'])]).describe('Seconds, or a unit'),
  tiempo: z.int().optional().describe('Its id in responses'),
})
const geoFilter = z.array(z.int()).optional().describe('Only these geos; default: all')

/** A change of a scripted series at an instant of the service's clock. */
const action = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.enum(['publish', 'withdraw']).describe('From then on the values are there, or no longer'),
    at: scriptedInstant,
    from: scriptedInstant,
    to: scriptedInstant,
    geos: geoFilter,
  }),
  z.strictObject({
    do: z.literal('revise').describe('From then on the values are different'),
    at: scriptedInstant,
    from: scriptedInstant,
    to: scriptedInstant,
    geos: geoFilter,
    by: z.number().optional().describe('Added to each value; default: 1'),
  }),
  z.strictObject({
    do: z.literal('resolve').describe('From then on the history is served in these resolutions'),
    at: scriptedInstant,
    resolutions: z.array(resolution).min(1),
  }),
])

const script = z.strictObject({
  id: z.int().positive(),
  kind: z.enum(['indicator', 'offer_indicator']).optional(),
  name: z.string().optional(),
  magnitude: z.tuple([z.int(), z.string()]).optional().describe('Number and name; default: 13, Energía'),
  geos: z.array(z.int()).min(1),
  resolutions: z.array(resolution).min(1).describe('In order of `from`; nothing is older than the first'),
  lag: z
    .int()
    .optional()
    .describe('Seconds from the start of a period until it is published; may be negative; default: 0'),
  emptyTiempo: z.int().optional().describe('Resolution id of responses without values'),
  actions: z.array(action).optional(),
})

export type ScriptedResolution = z.output<typeof resolution>
export type Action = z.output<typeof action>

/** A scripted series: its values depend only on the script and the service's clock. */
export interface Script extends z.output<typeof script> {}

/** A file of scripts, as `emulator --script` reads it. */
export const scriptFile = z.array(script)
