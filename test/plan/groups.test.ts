import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type GeoHoles, groupHoles } from '../../src/plan/geoGroups.ts'
import { intersect, merge } from '../../src/util/time/interval.ts'

const holes = fc
  .array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 10 })), { maxLength: 4 })
  .map((pairs) => merge(pairs.map(([from, length]) => ({ from, to: from + length }))))

test('every missing interval is in one group with exactly the geos that lack it', () =>
  fc.assert(
    fc.property(fc.array(holes, { maxLength: 5 }), (all) => {
      const missing: GeoHoles[] = all.map((own, i) => ({ geoId: 9 - i, holes: own }))
      const groups = groupHoles(missing)
      for (const [i, a] of groups.entries())
        for (const b of groups.slice(0, i)) expect(intersect(a.holes, b.holes)).toEqual([])
      for (const { geoId, holes: own } of missing) {
        const holes = groups.filter(({ geoIds }) => geoIds.includes(geoId)).flatMap((group) => group.holes)
        expect(merge(holes)).toEqual(own)
      }
      for (const { geoIds, holes: own } of groups) {
        expect(own.length).toBeGreaterThan(0)
        expect([...geoIds]).toEqual([...new Set(geoIds)].sort((a, b) => b - a))
      }
    }),
  ))
