import { ENERGY } from './energy.ts'
import { EVIDENCE } from './evidence.ts'
import { PRICES } from './prices.ts'
import type { Recipe } from './recipe.ts'
import { TEXTS } from './texts.ts'

/** Every recipe, in the order of the documentation. */
export const RECIPES: readonly Recipe[] = [...PRICES, ...ENERGY, ...EVIDENCE, ...TEXTS]
