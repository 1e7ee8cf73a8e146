import { integer, optional, table, text } from './declare.ts'

export const geo = table(
  'A geographic area.',
  {
    id: integer('Id at the service'),
    level: optional(text('country, electric_system, autonomous_community …; NULL if no response had it')),
  },
  { key: ['id'] },
)

export const geo_text = table(
  'The name of a geographic area in one language.',
  {
    id: integer('Geo (geo.id)'),
    locale: text('Language, such as es'),
    name: text('Name'),
  },
  { key: ['id', 'locale'], references: [{ columns: ['id'], of: 'geo' }], withoutRowid: true },
)

export const time_zone_offset = table(
  'Clock changes of a time zone, for local time in plain SQL.',
  {
    zone: text('IANA name'),
    from_at: integer('First instant with this offset (epoch seconds, UTC)'),
    to_at: integer('First instant with the next offset (epoch seconds, UTC)'),
    offset_s: integer('Local time minus UTC'),
    zone_data: optional(text('Version of the zone data, such as 2025b')),
  },
  { key: ['zone', 'from_at'], withoutRowid: true },
)
