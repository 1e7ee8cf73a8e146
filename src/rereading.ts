/** The other thread of `reread.ts`. */
import type { Taped } from './audit/tape.ts'
import { answerWith } from './base/aside.ts'
import { type Reread, reread } from './reread.ts'

answerWith((taped: Taped): { said: Reread; moved: ArrayBuffer[] } => ({ said: { rows: reread(taped) }, moved: [] }))
