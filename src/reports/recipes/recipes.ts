import { energyRecipes } from './energyRecipes.ts'
import { evidenceRecipes } from './evidenceRecipes.ts'
import { priceRecipes } from './priceRecipes.ts'
import type { Recipe, RecipeDefaults } from './recipe.ts'

/** Every recipe in the order of the documentation, with defaults of a service. */
export const recipesFor = (service: RecipeDefaults): readonly Recipe[] => [
  ...priceRecipes(service),
  ...energyRecipes(service),
  ...evidenceRecipes(service),
]
