/** The geo under which the answer to a request for all geos is recorded. A value has it where the service names no geo. */
export const ALL_GEOS = 0
