import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { command, serviceText } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { jobLine } from '../jobLine.ts'
import type { PageRequest } from '../page.ts'
import { indicatorNames } from '../queries/names.ts'
import type { ChartData } from '../queries/series/chart.ts'
import { seriesNames } from '../queries/series/compared.ts'
import type { NamedLine } from '../queries/series/seriesQuery.ts'
import { readStoredSeries } from '../queries/seriesPaths.ts'

/** Finds the forecast of a native series, or what it forecasts, with the path of its stored series; null without one. */
export async function readCounterpart(request: PageRequest, { kind, indicator, trunc, geoAgg }: NamedLine) {
  const { forecasts = [] } = request.service
  const pair = forecasts.find(({ actual, forecast }) => actual === indicator || forecast === indicator)
  if (!pair || kind !== ENTRY_ROUTES.series || trunc !== null || geoAgg !== null) return null
  const isForecast = pair.actual === indicator
  const id = isForecast ? pair.forecast : pair.actual
  const key = `${kind} ${id}`
  const stored = (await readStoredSeries(request.store, [{ kind, id }])).get(key) ?? []
  return {
    id,
    isForecast,
    name: (await indicatorNames(request, [id])).get(key) ?? null,
    path: stored[0]?.path ?? null,
  }
}

type Counterpart = Awaited<ReturnType<typeof readCounterpart>>

/** A link that adds the forecast, or what was forecast, to the chart; if it is not stored, the line of a job that fetches it. */
export function counterpartLink(
  counterpart: Counterpart,
  compared: ChartData['compared'],
  addressWith: (names: string) => string,
  request: PageRequest,
): HtmlPart {
  if (counterpart === null || !request.isLive) return null
  const { series: labels } = request.words
  const { id, isForecast, name, path } = counterpart
  const title: Html = html`${id} ${serviceText(name)}`
  if (path === null) {
    const summary = isForecast ? labels.noForecast : labels.noActual
    const line = command(jobLine(ENTRY_ROUTES.series, id))
    return html`<details><summary>${summary} ${title}</summary>${line}</details>`
  }
  if (compared.some((line) => line.path === path)) return null
  const address = addressWith([seriesNames(compared), path].filter(Boolean).join(','))
  const add = isForecast ? labels.addForecast : labels.addActual
  return html`<p><a href="${address}">${add}</a> <span class="soft">${title}</span></p>`
}
