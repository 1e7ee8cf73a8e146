import { recipesOf } from '../src/products/recipes/recipes.ts'
import { SERVICES } from '../src/services/services.ts'

/** The recipes for the service of the specification. */
export const RECIPES = recipesOf(SERVICES.generic)
