import type { Endpoint, Page } from './page.ts'

/** Every page; the navigation names those at the top, in this order. */
export const PAGES: readonly Page[] = [
  { path: '/', name: 'home', top: true, clock: true, view: async () => (await import('./views/home.ts')).homeView },
  {
    path: '/coverage',
    name: 'coverage',
    top: true,
    view: async () => (await import('./views/coverage.ts')).coverageView,
  },
  {
    path: '/coverage/:id',
    name: 'coverageOf',
    scripts: ['grid'],
    view: async () => (await import('./views/coverage.ts')).coverageOfSeriesView,
  },
  {
    path: '/series/:id',
    name: 'series',
    scripts: ['interactiveChart', 'carpet'],
    view: async () => (await import('./views/series/seriesPage.ts')).seriesView,
  },
  {
    path: '/series/:id/vintages',
    name: 'vintages',
    view: async () => (await import('./views/series/vintages.ts')).vintagesView,
  },
  {
    path: '/explain/:id/:geo/:at',
    name: 'explain',
    view: async () => (await import('./views/series/explain.ts')).explainView,
  },
  {
    path: '/indicators',
    name: 'indicators',
    top: true,
    live: true,
    view: async () => (await import('./views/indicators.ts')).indicatorsView,
  },
  {
    path: '/search',
    name: 'search',
    live: true,
    view: async () => (await import('./views/search.ts')).searchView,
  },
  { path: '/texts', name: 'texts', top: true, view: async () => (await import('./views/texts/texts.ts')).textsView },
  { path: '/texts/:kind/:id', name: 'text', view: async () => (await import('./views/texts/textPage.ts')).textView },
  {
    path: '/archives',
    name: 'archives',
    top: true,
    view: async () => (await import('./views/texts/archives.ts')).archivesView,
  },
  {
    path: '/archives/:kind/:id',
    name: 'archive',
    view: async () => (await import('./views/texts/archive.ts')).archiveView,
  },
  {
    path: '/widgets',
    name: 'widgets',
    top: true,
    view: async () => (await import('./views/texts/widgets.ts')).widgetsView,
  },
  { path: '/widgets/:id', name: 'widget', view: async () => (await import('./views/texts/widgets.ts')).widgetView },
  { path: '/runs', name: 'runs', top: true, view: async () => (await import('./views/runs.ts')).runsView },
  { path: '/runs/:id', name: 'run', view: async () => (await import('./views/run.ts')).runView },
  {
    path: '/quarantine',
    name: 'quarantine',
    view: async () => (await import('./views/quarantine.ts')).quarantineView,
  },
  {
    path: '/sql',
    name: 'sql',
    top: true,
    live: true,
    own: true,
    still: true,
    fresh: true,
    view: async () => (await import('./views/sql.ts')).sqlView,
  },
  { path: '/dictionary', name: 'dictionary', view: async () => (await import('./views/dictionary.ts')).dictionaryView },
  {
    path: '/dictionary/:name',
    name: 'dictionary',
    view: async () => (await import('./views/dictionary.ts')).dictionaryEntryView,
  },
]

/**
 * Everything other than pages: numbers, files, metrics. Those that count tables or run a user's statement must not be requested
 * by another site.
 */
export const ENDPOINTS: readonly Endpoint[] = [
  { path: '/api/series/:id/:geo', answer: async () => (await import('./views/series/seriesEndpoints.ts')).answerChart },
  {
    path: '/api/vintages/:id/:geo',
    answer: async () => (await import('./views/series/seriesEndpoints.ts')).answerVintages,
  },
  {
    path: '/api/carpet/:id/:geo',
    answer: async () => (await import('./views/series/seriesEndpoints.ts')).answerCarpet,
  },
  { path: '/api/csv/:id/:geo', answer: async () => (await import('./views/series/seriesEndpoints.ts')).answerCsv },
  { path: '/sql.csv', own: true, fresh: true, answer: async () => (await import('./views/sql.ts')).answerSqlCsv },
  { path: '/api/live', fresh: true, answer: async () => (await import('./views/machine.ts')).answerState },
  { path: '/metrics', clock: true, own: true, answer: async () => (await import('./views/machine.ts')).answerMetrics },
  {
    path: '/status.json',
    clock: true,
    own: true,
    answer: async () => (await import('./views/machine.ts')).answerStatus,
  },
]
