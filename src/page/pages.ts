import type { Endpoint, Page } from './page.ts'

/* Views are loaded on the first request. */
const archives = () => import('./views/archivesPage.ts')
const catalogue = () => import('./views/cataloguePage.ts')
const coverage = () => import('./views/coveragePage.ts')
const explain = () => import('./views/explainPage.ts')
const overview = () => import('./views/overviewPage.ts')
const revisions = () => import('./views/revisionsPage.ts')
const runs = () => import('./views/runsPage.ts')
const series = () => import('./views/seriesPage.ts')
const sql = () => import('./views/sqlPage.ts')
const texts = () => import('./views/textsPage.ts')
const widgets = () => import('./views/widgetsPage.ts')
const endpoints = () => import('./endpoints.ts')
const pictures = () => import('./charts/seriesPicture.ts')

const page = (path: string, name: Page['name'], view: Page['view'], more: Partial<Page> = {}): Page => ({
  ...more,
  path,
  name,
  view,
})

/** Settings of routes that run a statement of the user. */
const COSTLY = { isCostly: true, isUncached: true } as const

/** Every page. The navigation has those with `isInNavigation`, in this order. */
export const PAGES: readonly Page[] = [
  page('/', 'home', async () => (await overview()).overviewView, { isInNavigation: true, dependsOnTime: true }),
  page('/coverage', 'coverage', async () => (await coverage()).coverageView, { isInNavigation: true }),
  page('/coverage/:id', 'coverage', async () => (await coverage()).seriesCoverageView, { scripts: ['grid'] }),
  page('/series/:id', 'series', async () => (await series()).seriesView, {
    scripts: ['interactiveChart', 'carpet', 'picture'],
    dependsOnTime: true,
  }),
  page('/revisions/:id/:geo/:run', 'revisions', async () => (await revisions()).runRevisionsView),
  page('/explain/:id/:geo/:at', 'explain', async () => (await explain()).explainView),
  page('/indicators', 'indicators', async () => (await catalogue()).indicatorsView, {
    isInNavigation: true,
    needsServer: true,
  }),
  page('/search', 'search', async () => (await catalogue()).searchView, { needsServer: true }),
  page('/texts', 'texts', async () => (await texts()).textsView, { isInNavigation: true }),
  page('/texts/:kind/:id', 'texts', async () => (await texts()).textView),
  page('/widgets', 'widgets', async () => (await widgets()).widgetsView),
  page('/widgets/:id', 'widget', async () => (await widgets()).widgetView),
  page('/archives', 'archives', async () => (await archives()).archivesView, { isInNavigation: true }),
  page('/archives/:kind/:id', 'archive', async () => (await archives()).archiveView),
  page('/runs', 'runs', async () => (await runs()).runsView, { isInNavigation: true }),
  page('/runs/:id', 'run', async () => (await runs()).runView),
  page('/quarantine', 'quarantine', async () => (await runs()).quarantineView),
  page('/sql', 'sql', async () => (await sql()).sqlView, {
    isInNavigation: true,
    needsServer: true,
    isStill: true,
    scripts: ['picture'],
    ...COSTLY,
  }),
  page('/dictionary', 'dictionary', async () => (await sql()).dictionaryView),
  page('/dictionary/:name', 'dictionary', async () => (await sql()).dictionaryEntryView),
]

/** All routes other than pages: data, files, health, metrics. */
export const ENDPOINTS: readonly Endpoint[] = [
  { path: '/api/series/:id/:geo', respond: async () => (await endpoints()).chartData },
  { path: '/api/carpet/:id/:geo', respond: async () => (await endpoints()).carpetData },
  { path: '/api/csv/:id/:geo', respond: async () => (await endpoints()).valuesCsv },
  { path: '/series/:id{.+\\.svg}', dependsOnTime: true, respond: async () => (await pictures()).seriesPicture },
  { path: '/api/revisions/:id/:geo', respond: async () => (await revisions()).revisionsCsv },
  { path: '/api/names', respond: async () => (await endpoints()).suggestedSeries },
  { path: '/sql.csv', ...COSTLY, respond: async () => (await sql()).statementCsv },
  { path: '/sql.svg', ...COSTLY, respond: async () => (await sql()).statementPicture },
  { path: '/api/live', isUncached: true, respond: async () => (await endpoints()).databaseState },
  { path: '/healthz', dependsOnTime: true, isCostly: true, respond: async () => (await endpoints()).health },
  { path: '/metrics', dependsOnTime: true, isCostly: true, respond: async () => (await endpoints()).metrics },
  { path: '/status.json', dependsOnTime: true, isCostly: true, respond: async () => (await endpoints()).status },
]
