import { WELL_KNOWN } from './wellKnown.ts'

const { spotPrice, canaryPrice, demand, demandForecast, wind, solar, hydro, combinedCycle } = WELL_KNOWN

/** Forecasts with the indicators that they forecast. Source: the operator's catalogue. */
export const FORECASTS = [
  { actual: wind.indicator, forecast: 1777 },
  { actual: solar.indicator, forecast: 1779 },
  { actual: demand.indicator, forecast: demandForecast.indicator },
] as const

const [{ forecast: windForecast }, { forecast: solarForecast }] = FORECASTS

/** Everyday names of common indicators, in Spanish and English, by which a search finds them beside their names at the service. */
export const ALIASES: Readonly<Record<number, readonly string[]>> = {
  [spotPrice.indicator]: [
    'precio de la luz',
    'precio de la electricidad',
    'mercado mayorista',
    'mercado diario',
    'pool',
    'OMIE',
    'electricity price',
    'wholesale price',
    'day-ahead price',
  ],
  [canaryPrice.indicator]: [
    'PVPC',
    'precio de la luz',
    'tarifa regulada',
    'factura de la luz',
    'electricity price',
    'regulated tariff',
    'electricity bill',
  ],
  1739: ['excedentes', 'compensación', 'autoconsumo', 'surplus price', 'self-consumption'],
  [demand.indicator]: ['consumo de electricidad', 'demanda eléctrica', 'electricity consumption', 'load'],
  [demandForecast.indicator]: [
    'previsión de la demanda',
    'previsión del consumo',
    'consumption forecast',
    'load forecast',
  ],
  [wind.indicator]: ['viento', 'energía eólica', 'wind power'],
  [windForecast]: ['previsión del viento', 'wind forecast'],
  [solar.indicator]: ['placas solares', 'energía solar', 'solar power', 'photovoltaic', 'PV'],
  [solarForecast]: ['previsión solar', 'solar forecast', 'PV forecast'],
  [hydro.indicator]: ['energía hidráulica', 'hydropower'],
  [combinedCycle.indicator]: ['centrales de gas', 'ciclos combinados', 'gas power'],
}
