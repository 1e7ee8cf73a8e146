import type { Endpoint, Page } from './page.ts'

/** Every page; the navigation names those at the top, in this order. */
export const PAGES: readonly Page[] = [
  { path: '/', name: 'home', top: true, clock: true, view: async () => (await import('./views/home.ts')).home },
  { path: '/coverage', name: 'coverage', top: true, view: async () => (await import('./views/coverage.ts')).coverage },
  {
    ...{ path: '/coverage/:id', name: 'coverageOf', scripts: ['grid'] },
    view: async () => (await import('./views/coverage.ts')).coverageOf,
  },
  {
    ...{ path: '/series/:id', name: 'series', scripts: ['series', 'carpet'] },
    view: async () => (await import('./views/series/series.ts')).series,
  },
  {
    path: '/series/:id/vintages',
    name: 'vintages',
    view: async () => (await import('./views/series/vintages.ts')).vintages,
  },
  {
    path: '/explain/:id/:geo/:at',
    name: 'explain',
    view: async () => (await import('./views/series/explain.ts')).explainValue,
  },
  {
    ...{ path: '/indicators', name: 'indicators', top: true, live: true },
    view: async () => (await import('./views/indicators.ts')).indicators,
  },
  {
    path: '/search',
    name: 'search',
    top: true,
    live: true,
    view: async () => (await import('./views/search.ts')).search,
  },
  { path: '/texts', name: 'texts', top: true, view: async () => (await import('./views/texts/texts.ts')).texts },
  { path: '/texts/:kind/:id', name: 'text', view: async () => (await import('./views/texts/textPage.ts')).text },
  {
    path: '/archives',
    name: 'archives',
    top: true,
    view: async () => (await import('./views/texts/archives.ts')).archives,
  },
  {
    path: '/archives/:kind/:id',
    name: 'archive',
    view: async () => (await import('./views/texts/archive.ts')).archive,
  },
  {
    path: '/widgets',
    name: 'widgets',
    top: true,
    view: async () => (await import('./views/texts/widgets.ts')).widgets,
  },
  { path: '/widgets/:id', name: 'widget', view: async () => (await import('./views/texts/widgets.ts')).widget },
  { path: '/runs', name: 'runs', top: true, view: async () => (await import('./views/runs.ts')).runs },
  { path: '/runs/:id', name: 'run', view: async () => (await import('./views/run.ts')).run },
  {
    ...{ path: '/sql', name: 'sql', top: true, live: true, own: true, still: true },
    view: async () => (await import('./views/sql.ts')).sql,
  },
  { path: '/dictionary', name: 'dictionary', view: async () => (await import('./views/dictionary.ts')).dictionary },
  {
    path: '/dictionary/:name',
    name: 'dictionary',
    view: async () => (await import('./views/dictionary.ts')).dictionaryOf,
  },
]

/**
 * Everything other than pages: numbers, files, metrics. Those that count tables or run a user's statement must not be requested
 * by another site.
 */
export const ENDPOINTS: readonly Endpoint[] = [
  { path: '/api/series/:id/:geo', answer: async () => (await import('./views/series/seriesEndpoints.ts')).chart },
  { path: '/api/vintages/:id/:geo', answer: async () => (await import('./views/series/seriesEndpoints.ts')).vintages },
  { path: '/api/carpet/:id/:geo', answer: async () => (await import('./views/series/seriesEndpoints.ts')).carpet },
  { path: '/api/csv/:id/:geo', answer: async () => (await import('./views/series/seriesEndpoints.ts')).csv },
  { path: '/sql.csv', own: true, answer: async () => (await import('./views/sql.ts')).sqlCsv },
  { path: '/metrics', clock: true, own: true, answer: async () => (await import('./views/machine.ts')).metrics },
  { path: '/status.json', clock: true, own: true, answer: async () => (await import('./views/machine.ts')).status },
]
