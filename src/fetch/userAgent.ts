/** The header by which this program names itself to a service, and to those that it notifies. */
export const userAgentHeader = (version: string): Readonly<Record<string, string>> => ({
  'User-Agent': `indicator-sync/${version}`,
})
