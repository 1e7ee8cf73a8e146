import type { AnyPage, Endpoint } from './page.ts'
import { archive } from './views/archive.ts'
import { archives } from './views/archives.ts'
import { coverage, coverageOf } from './views/coverage.ts'
import { dictionary, dictionaryOf } from './views/dictionary.ts'
import { explainValue } from './views/explain.ts'
import { home } from './views/home.ts'
import { indicators } from './views/indicators.ts'
import { MACHINE_ENDPOINTS } from './views/machine.ts'
import { run } from './views/run.ts'
import { runs } from './views/runs.ts'
import { search } from './views/search.ts'
import { series } from './views/series.ts'
import { SERIES_ENDPOINTS } from './views/seriesEndpoints.ts'
import { sql, sqlCsv } from './views/sql.ts'
import { text } from './views/textPage.ts'
import { texts } from './views/texts.ts'
import { vintages } from './views/vintages.ts'
import { widget, widgets } from './views/widgets.ts'

/** Every page; the navigation names those at the top, in this order. */
export const PAGES: readonly AnyPage[] = [
  home,
  coverage,
  coverageOf,
  series,
  vintages,
  explainValue,
  indicators,
  search,
  texts,
  text,
  archives,
  archive,
  widgets,
  widget,
  runs,
  run,
  sql,
  dictionary,
  dictionaryOf,
]

/** What is no page: numbers, files, figures. */
export const ENDPOINTS: readonly Endpoint[] = [...SERIES_ENDPOINTS, sqlCsv, ...MACHINE_ENDPOINTS]
