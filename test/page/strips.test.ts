import { expect, test } from 'vitest'
import { cellPicture, stripPicture } from '../../src/page/coveragePictures.ts'
import type { PageRequest } from '../../src/page/page.ts'
import { type CoverageInterval, computePeriods } from '../../src/page/queries/intervals.ts'
import { WORDS } from '../../src/page/words/words.ts'

test('a strip shows even small parts of a day', () => {
  const request = { words: WORDS.en } as PageRequest
  const picture = String(stripPicture(request, [{ none: 1 }, { none: 0.98, final: 0.02 }, { final: 1 }]))
  expect(picture).toContain('aria-label="not in any job 66 %, final 34 %"')
  expect(picture).toMatch(/<rect class="final" x="1" y="10" width="1" height="2"\/><rect class="final" x="2" y="0"/)
})

test('the parts of a cell are in the order of time', () => {
  const line = [
    { from: 0, to: 600, state: 'provisional' },
    { from: 1200, to: 2400, state: 'final' },
  ].map((interval) => ({ ...interval, geoId: 3, reason: null, missing: null, nextAt: null }) as CoverageInterval)
  const [period, whole] = computePeriods(new Map([[3, line]]), [0, 2400, 4800], [3])
  expect(period!.shares).toEqual({ none: 0.25, final: 0.5, provisional: 0.25 })
  expect(whole).toEqual({ shares: { none: 1 }, parts: [] })
  const parts = [...String(cellPicture(period!.parts)).matchAll(/<rect class="(\w+)" x="(\d+)" y="\d+" width="(\d+)"/g)]
  expect(parts.map(([, ...part]) => part)).toEqual([
    ['provisional', '0', '15'],
    ['final', '30', '30'],
  ])
})
