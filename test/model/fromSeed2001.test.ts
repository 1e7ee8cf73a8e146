import { modelTest } from './suite.ts'

modelTest(2001, 5)
