import { allRecipesFor, recipesFor } from '../../src/reports/recipes/recipes.ts'
import { SERVICES } from '../../src/service/services.ts'

/** The recipes for the generic service. */
export const RECIPES = recipesFor(SERVICES.generic)

/** Those that join a table of the user, too. */
export const ALL_RECIPES = allRecipesFor(SERVICES.generic)
