/**
 * The geos that are shown before others where nobody names one, the widest first: Spain, and its peninsula. Source: the
 * operator's values of prices and of demand.
 */
export const MAIN_GEOS: readonly number[] = [3, 8741]
