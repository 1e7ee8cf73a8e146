import { afterAll } from 'vitest'
import { dropMade } from './names.ts'

afterAll(dropMade)
