import type { Assumption } from './assumption.ts'
import { LIST_ASSUMPTIONS } from './listAssumptions.ts'
import { PROTOCOL_ASSUMPTIONS } from './protocolAssumptions.ts'
import { SERIES_ASSUMPTIONS } from './seriesAssumptions.ts'

/** All assumptions about the service that `probe` tests. */
export const ASSUMPTIONS: readonly Assumption[] = [...SERIES_ASSUMPTIONS, ...LIST_ASSUMPTIONS, ...PROTOCOL_ASSUMPTIONS]
