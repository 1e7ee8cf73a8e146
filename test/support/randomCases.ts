/**
 * The number of random cases of a property: few in `npm test`, `RANDOM_CASES` times as many in `npm run test:random`, with
 * another seed.
 */
export const cases = (count: number): number => Math.ceil(count * Number(process.env.RANDOM_CASES ?? 1))

/** Whether slow tests try all places and variants: in the nightly project. The slow lane tries some of them. */
export const IN_FULL = process.env.INDICATOR_SYNC_TEST_IN_FULL === '1'
