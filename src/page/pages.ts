import type { Endpoint, Page } from './page.ts'

/* The code of a page is loaded on its first request. */
const archives = () => import('./views/archives.ts')
const catalogue = () => import('./views/catalogue.ts')
const coverage = () => import('./views/coverage.ts')
const runs = () => import('./views/runs.ts')
const sql = () => import('./views/sql.ts')
const texts = () => import('./views/texts.ts')
const endpoints = () => import('./endpoints.ts')

/** Every page; the navigation names those at the top, in this order. */
export const PAGES: readonly Page[] = [
  {
    path: '/',
    name: 'home',
    top: true,
    clock: true,
    view: async () => (await import('./views/overview.ts')).overviewView,
  },
  { path: '/coverage', name: 'coverage', top: true, view: async () => (await coverage()).coverageView },
  {
    path: '/coverage/:id',
    name: 'coverageOf',
    scripts: ['grid'],
    view: async () => (await coverage()).coverageOfSeriesView,
  },
  {
    path: '/series/:id',
    name: 'series',
    scripts: ['interactiveChart', 'carpet'],
    view: async () => (await import('./views/series.ts')).seriesView,
  },
  {
    path: '/series/:id/vintages',
    name: 'vintages',
    view: async () => (await import('./views/vintages.ts')).vintagesView,
  },
  {
    path: '/explain/:id/:geo/:at',
    name: 'explain',
    view: async () => (await import('./views/explain.ts')).explainView,
  },
  {
    path: '/indicators',
    name: 'indicators',
    top: true,
    live: true,
    view: async () => (await catalogue()).indicatorsView,
  },
  { path: '/search', name: 'search', live: true, view: async () => (await catalogue()).searchView },
  { path: '/texts', name: 'texts', top: true, view: async () => (await texts()).textsView },
  { path: '/texts/:kind/:id', name: 'text', view: async () => (await texts()).textView },
  { path: '/archives', name: 'archives', top: true, view: async () => (await archives()).archivesView },
  { path: '/archives/:kind/:id', name: 'archive', view: async () => (await archives()).archiveView },
  { path: '/widgets', name: 'widgets', top: true, view: async () => (await archives()).widgetsView },
  { path: '/widgets/:id', name: 'widget', view: async () => (await archives()).widgetView },
  { path: '/runs', name: 'runs', top: true, view: async () => (await runs()).runsView },
  { path: '/runs/:id', name: 'run', view: async () => (await runs()).runView },
  { path: '/quarantine', name: 'quarantine', view: async () => (await runs()).quarantineView },
  {
    path: '/sql',
    name: 'sql',
    top: true,
    live: true,
    own: true,
    still: true,
    fresh: true,
    view: async () => (await sql()).sqlView,
  },
  { path: '/dictionary', name: 'dictionary', view: async () => (await sql()).dictionaryView },
  { path: '/dictionary/:name', name: 'dictionary', view: async () => (await sql()).dictionaryEntryView },
]

/**
 * Everything other than pages: numbers, files, metrics. Those that count tables or run a user's statement must not be requested
 * by another site.
 */
export const ENDPOINTS: readonly Endpoint[] = [
  { path: '/api/series/:id/:geo', answer: async () => (await endpoints()).answerChart },
  { path: '/api/vintages/:id/:geo', answer: async () => (await endpoints()).answerVintages },
  { path: '/api/carpet/:id/:geo', answer: async () => (await endpoints()).answerCarpet },
  { path: '/api/csv/:id/:geo', answer: async () => (await endpoints()).answerCsv },
  { path: '/api/names', answer: async () => (await endpoints()).answerNames },
  { path: '/sql.csv', own: true, fresh: true, answer: async () => (await sql()).answerSqlCsv },
  { path: '/api/live', fresh: true, answer: async () => (await endpoints()).answerState },
  { path: '/metrics', clock: true, own: true, answer: async () => (await endpoints()).answerMetrics },
  { path: '/status.json', clock: true, own: true, answer: async () => (await endpoints()).answerStatus },
]
