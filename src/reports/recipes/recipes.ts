import { energyRecipes } from './energyRecipes.ts'
import { evidenceRecipes } from './evidenceRecipes.ts'
import { ownTableRecipes } from './ownTableRecipes.ts'
import { priceRecipes } from './priceRecipes.ts'
import type { Recipe, RecipeDefaults } from './recipe.ts'

/** Every recipe that needs only the database, in the order of the documentation, with defaults of a service. */
export const recipesFor = (service: RecipeDefaults): readonly Recipe[] => [
  ...priceRecipes(service),
  ...energyRecipes(service),
  ...evidenceRecipes(service),
]

/** Every recipe, also those that need a table of the user. */
export const allRecipesFor = (service: RecipeDefaults): readonly Recipe[] => [
  ...recipesFor(service),
  ...ownTableRecipes(service),
]
