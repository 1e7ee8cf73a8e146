import { energyRecipes } from './energy.ts'
import { evidenceRecipes } from './evidence.ts'
import { priceRecipes } from './prices.ts'
import type { Recipe, Subjects } from './recipe.ts'
import { textRecipes } from './texts.ts'

/** Every recipe in the order of the documentation, with defaults of a service. */
export const recipesFor = (service: Subjects): readonly Recipe[] => [
  ...priceRecipes(service),
  ...energyRecipes(service),
  ...evidenceRecipes(service),
  ...textRecipes(service),
]
