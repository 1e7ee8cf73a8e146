import { FETCH_OUTCOMES, NOT_FAILED_OUTCOMES } from './fetchOutcome.ts'

const list = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ')

/** Every index beside the primary keys, for both databases. */
export const INDEXES = [
  `create unique index series_identity on series (
    kind, indicator_id, coalesce(time_trunc, ''), coalesce(time_agg, ''), coalesce(geo_agg, ''), coalesce(geo_trunc, ''), coalesce(geo_ids, '')
  )`,
  'create index _absent_end on _absent (series_id, to_at)',
  'create index _budget_called on _budget (host, called_at)',
  `create index _fetch_absent on _fetch (id) where reason = 'absent'`,
  `create index _fetch_checked on _fetch (series_id, finished_at) where outcome in (${list(FETCH_OUTCOMES.good)})`,
  `create index _fetch_coarse on _fetch (series_id, id) where outcome = ${list(FETCH_OUTCOMES.coarse)}`,
  `create index _fetch_failed on _fetch (series_id, id) where outcome not in (${list(NOT_FAILED_OUTCOMES)})`,
  'create index _fetch_reply on _fetch (reply_hash)',
  'create index _fetch_run on _fetch (run_id)',
  'create index _fetch_series on _fetch (series_id, id)',
  'create index _fetch_target on _fetch (target, id)',
  'create index _quarantine_dismissed on _quarantine (dismissed_after) where dismissed_after is not null',
  'create index _quarantine_fetch on _quarantine (fetch_id)',
  'create index _quarantine_open on _quarantine (fetch_id) where resolved_at is null',
  'create index content_revision_by on content_revision (superseded_by)',
  'create index indicator_revision_by on indicator_revision (superseded_by)',
  'create unique index search_item_text on search_item (kind, item_id, locale)',
]
