import {
  flag,
  INDICATOR_KIND,
  instant,
  integer,
  json,
  LISTED_TEXT,
  LOCALE,
  moment,
  optional,
  table,
  text,
} from './declare.ts'

const INDICATOR = { kind: text(INDICATOR_KIND), id: integer('Indicator (indicator.id)') }

export const geo = table(
  'A geographic area. Its level is country, electric_system, autonomous_community …, or NULL if unknown.',
  {
    id: integer('Id at the service'),
    level: optional(text('country, electric_system, autonomous_community …; NULL if unknown')),
  },
  { key: ['id'] },
)

export const geo_text = table(
  'The name of a geographic area in one language.',
  {
    id: integer('Geo (geo.id)'),
    ...LOCALE,
    name: text('Name'),
  },
  { key: ['id', 'locale'], references: { geo: ['id'] }, withoutRowid: true },
)

export const time_zone_offset = table(
  'UTC offsets of time zones, for local time in plain SQL.',
  {
    zone: text('IANA name'),
    from_at: integer('First instant with this offset (epoch seconds, UTC)'),
    to_at: integer('First instant with the next offset (epoch seconds, UTC)'),
    offset_s: integer('Local time minus UTC'),
    zone_data: optional(text('Version of the zone data, such as 2025b')),
  },
  { key: ['zone', 'from_at'], withoutRowid: true },
)

export const magnitude = table(
  'Units of the quantities of the service.',
  {
    id: integer('Id at the service (indicator.magnitude_id)'),
    unit: text('Unit of the values'),
    measure: text('power, energy or price'),
    source: text('Where the id and the unit are stated'),
    assumed: flag('1 if the id or the unit is inferred'),
  },
  { key: ['id'] },
)

export const vocabulary = table(
  'A group of terms, such as Process.',
  { id: integer('Id at the service') },
  { key: ['id'] },
)

export const vocabulary_text = table(
  'The name of a vocabulary in one language.',
  { id: integer('Vocabulary (vocabulary.id)'), ...LOCALE, name: text('Name') },
  { key: ['id', 'locale'], references: { vocabulary: ['id'] }, withoutRowid: true },
)

export const taxonomy_term = table(
  'A term used by items and archives.',
  {
    id: integer('Id at the service'),
    vocabulary_id: optional(integer('Vocabulary (vocabulary.id)')),
  },
  { key: ['id'] },
)

export const taxonomy_term_text = table(
  'The name of a taxonomy term in one language.',
  { id: integer('Term (taxonomy_term.id)'), ...LOCALE, name: text('Name') },
  { key: ['id', 'locale'], references: { taxonomy_term: ['id'] }, withoutRowid: true },
)

export const indicator = table(
  'An indicator in the catalogue or with fetched values.',
  {
    kind: text(INDICATOR_KIND),
    id: integer('Id at the service'),
    step_type: optional(text('Chart style at the service: linear or step')),
    composited: optional(flag('1 if calculated from other indicators')),
    disaggregated: optional(flag('1 if it has values for several geos')),
    magnitude_id: optional(integer('Quantity as last stated (magnitude.id); see indicator_unit')),
    magnitude: optional(text('Quantity, as the service names it in the language fetched first')),
    first_seen_at: moment('First seen'),
    last_seen_at: optional(moment('Last seen in a complete listing')),
    withdrawn_at: optional(moment('First found missing from a complete listing; NULL while listed')),
    payload: optional(json('Other fields as JSON')),
  },
  { key: ['kind', 'id'], silent: ['first_seen_at', 'last_seen_at', 'withdrawn_at'] },
)

export const indicator_unit = table(
  'The quantities of an indicator over time. Only indicators with responses that state different quantities have rows; for all others, indicator.magnitude_id applies to all values.',
  {
    ...INDICATOR,
    from_at: instant(
      'Start of the first local day with this quantity, which applies until the next row; the first row begins in the year 1',
    ),
    magnitude_id: optional(integer('Quantity (magnitude.id)')),
    magnitude: optional(text('Quantity, as the service names it')),
    fetch_id: optional(
      integer('Fetch that first stated it here (_fetch.id); NULL = an earlier one than the first change'),
    ),
  },
  { key: ['kind', 'id', 'from_at'], references: { indicator: ['kind', 'id'] }, withoutRowid: true },
)

export const indicator_text = table(
  'Texts of an indicator in one language.',
  {
    ...INDICATOR,
    ...LOCALE,
    name: optional(text('Name')),
    short_name: optional(text('Short name')),
    description: optional(text('Description, HTML as received')),
    description_text: optional(text('Description as plain text')),
    ...LISTED_TEXT,
    fetch_id: integer('Fetch that received this version (_fetch.id)'),
  },
  {
    key: ['kind', 'id', 'locale'],
    silent: ['last_seen_at', 'withdrawn_at', 'fetch_id'],
    references: { indicator: ['kind', 'id'] },
  },
)

export const indicator_revision = table(
  "An earlier version of an indicator's texts.",
  {
    ...INDICATOR,
    ...LOCALE,
    fetch_id: integer('Fetch that received this version (_fetch.id)'),
    name: optional(text('Name of this version')),
    short_name: optional(text('Short name of this version')),
    description: optional(text('Description of this version, HTML as received')),
    superseded_by: integer('Fetch that received the next version (_fetch.id)'),
  },
  { key: ['kind', 'id', 'locale', 'fetch_id'] },
)

export const indicator_term = table(
  'A catalogue term of an indicator. Only terms that a job filters by are known.',
  {
    term: text('Term, as the service spells it'),
    ...INDICATOR,
  },
  { key: ['term', 'kind', 'id'], withoutRowid: true },
)
