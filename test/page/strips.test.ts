import { expect, test } from 'vitest'
import { stripPicture } from '../../src/page/coveragePictures.ts'
import type { PageRequest } from '../../src/page/page.ts'
import { createBars } from '../../src/page/views/coveragePage.ts'
import { WORDS } from '../../src/page/words/words.ts'

test('a strip shows even small parts of a day', () => {
  const request = { words: WORDS.en } as PageRequest
  const picture = String(stripPicture(request, [{ none: 1 }, { none: 0.98, final: 0.02 }, { final: 1 }]))
  expect(picture).toContain('aria-label="never requested 66 %, final 34 %"')
  expect(picture).toMatch(/<rect class="final" x="1" y="10" width="1" height="2"\/><rect class="final" x="2" y="0"/)
})

test('the parts of a bar are as wide as their shares', () => {
  const bars = createBars()
  bars.show({ none: 0.91, final: 0.08, provisional: 0.01 })
  const widths = [...String(bars.symbols()).matchAll(/<rect class="(\w+)" x="\d+" width="(\d+)"/g)]
  expect(widths.map(([, state, width]) => [state, Number(width)])).toEqual([
    ['none', 44],
    ['final', 4],
    ['provisional', 2],
  ])
})
