import { integer, optional, table, text } from './declare.ts'

export const geo = table(
  'A geographic entity.',
  {
    id: integer('The number that the service gives it'),
    level: optional(text('country, electric_system, autonomous_community …, where an answer had it')),
  },
  { key: ['id'] },
)

export const geo_text = table(
  'The name of a geographic entity in one language.',
  {
    id: integer('The geo'),
    locale: text('The language, such as es'),
    name: text('Its name'),
  },
  { key: ['id', 'locale'], references: [{ columns: ['id'], of: 'geo' }], withoutRowid: true },
)

export const time_zone_offset = table(
  'The clock changes of a time zone, so that plain SQL can turn an instant into local time.',
  {
    zone: text('IANA name'),
    from_at: integer('First instant with this offset (epoch seconds, UTC)'),
    to_at: integer('First instant with the next one (epoch seconds, UTC)'),
    offset_s: integer('Seconds that local time is ahead of UTC'),
    zone_data: optional(text('The version of the zone data from which it comes, such as 2025b')),
  },
  { key: ['zone', 'from_at'], withoutRowid: true },
)
