import { recipesFor } from '../../src/reports/recipes/recipes.ts'
import { SERVICES } from '../../src/service/services.ts'

/** The recipes for the generic service. */
export const RECIPES = recipesFor(SERVICES.generic)
