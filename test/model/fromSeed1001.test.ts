import { modelTest } from './suite.ts'

modelTest(1001, 5)
