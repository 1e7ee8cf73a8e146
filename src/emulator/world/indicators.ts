import { HOUR, type Instant } from '../../util/time/instant.ts'
import type { CurveName } from './curves.ts'
import { COMMUNITIES } from './emulatedGeos.ts'
import type { PublicationName } from './publication.ts'
import { type Bilingual, parseTable } from './texts.ts'

/** An indicator of the emulator. */
export interface Indicator {
  readonly id: number
  readonly es: string
  readonly en: string
  readonly short: string
  readonly magnitude: readonly [id: number, es: string]
  /** Seconds of a period, from an instant on; the first row holds from the beginning. */
  readonly steps: readonly (readonly [from: Instant, seconds: number])[]
  readonly geos: readonly number[]
  readonly curve: CurveName
  /** The factor of the curve. */
  readonly scale: number
  readonly published: PublicationName
  readonly isComposited?: boolean
  readonly terms: readonly string[]
  /** A sentence for the catalogue; without it the service gives no description. */
  readonly about?: Bilingual
}

const QUARTER_HOUR = 900
/** Local midnights at which series went from hours to quarter-hours. Source: the operator's announcements. */
export const QUARTERS_DAY_AHEAD = Date.UTC(2025, 8, 30, 22) / 1000
const QUARTERS_INTRADAY = Date.UTC(2024, 5, 13, 22) / 1000
const QUARTERS_P48 = Date.UTC(2022, 4, 23, 22) / 1000

const HOURLY: Indicator['steps'] = [[0, HOUR]]
const every = (seconds: number): Indicator['steps'] => [[0, seconds]]
const quartersFrom = (at: Instant): Indicator['steps'] => [
  [0, HOUR],
  [at, QUARTER_HOUR],
]

export const PRICE_MAGNITUDE = [23, 'Precio €/MWh'] as const
export const ENERGY_MAGNITUDE = [13, 'Energía'] as const
const POWER = [20, 'Potencia'] as const
const RENT = [22, 'Importe'] as const
const CO2 = [18, 'Emisiones'] as const

/** Makes indicators with common properties from a table: number, name in Spanish and English, short name. */
const group = (common: Omit<Indicator, 'id' | 'es' | 'en' | 'short'>, table: string): Indicator[] =>
  parseTable(table).map(([id, es = '', en = '', short = '']) => ({ id: Number(id), es, en, short, ...common }))

const SPAIN_ONLY = [3]
const PENINSULA_ONLY = [8741]
const market = {
  terms: ['Mercados y precios'],
  published: 'afternoon',
  about: {
    es: 'Resultado del mercado de producción para cada periodo del día.',
    en: 'Result of the production market for every period of the day.',
  },
} as const
const operation = {
  terms: ['Generación y consumo'],
  published: 'live',
  about: {
    es: 'Medida en tiempo real en el sistema eléctrico peninsular.',
    en: 'Measured in real time in the electricity system of the peninsula.',
  },
} as const
const forecast = {
  terms: ['Generación y consumo'],
  published: 'forecast',
  about: {
    es: 'Previsión que se actualiza hasta el momento de la operación.',
    en: 'A forecast that is updated until the time of operation.',
  },
} as const
const schedule = {
  terms: ['Generación y consumo', 'Programas'],
  published: 'schedule',
  about: {
    es: 'Programa operativo, definitivo a la mañana siguiente.',
    en: 'Operating schedule, final on the next morning.',
  },
} as const
const measured = {
  terms: ['Generación y consumo', 'Liquidaciones'],
  published: 'settled',
  magnitude: ENERGY_MAGNITUDE,
  steps: HOURLY,
  geos: COMMUNITIES,
} as const
const dayAhead = { ...market, steps: quartersFrom(QUARTERS_DAY_AHEAD), geos: SPAIN_ONLY } as const
const intraday = { ...market, steps: quartersFrom(QUARTERS_INTRADAY), geos: SPAIN_ONLY } as const
const hourlyPrice = { ...market, magnitude: PRICE_MAGNITUDE, steps: HOURLY } as const
const livePower = { ...operation, magnitude: POWER, steps: every(300), geos: PENINSULA_ONLY } as const
const operatingSchedule = {
  ...schedule,
  magnitude: ENERGY_MAGNITUDE,
  steps: quartersFrom(QUARTERS_P48),
  geos: PENINSULA_ONLY,
} as const
const powerForecast = { ...forecast, magnitude: POWER, steps: HOURLY, geos: PENINSULA_ONLY } as const

/** The catalogue: the series that people use most, with the numbers, units, steps and geos of the live service. */
export const INDICATORS: readonly Indicator[] = [
  ...group(
    { ...dayAhead, magnitude: PRICE_MAGNITUDE, geos: [3, 1, 2, 8826, 8827, 8828], curve: 'price', scale: 1 },
    `600 | Precio mercado SPOT Diario | Day-ahead spot market price | Mercado SPOT`,
  ),
  ...group(
    { ...intraday, magnitude: PRICE_MAGNITUDE, geos: [3, 1], curve: 'price', scale: 1.02 },
    `
    612 | Precio mercado SPOT Intradiario Sesión 1 | Intraday spot market price, session 1 | Intradiario Sesión 1
    613 | Precio mercado SPOT Intradiario Sesión 2 | Intraday spot market price, session 2 | Intradiario Sesión 2
    614 | Precio mercado SPOT Intradiario Sesión 3 | Intraday spot market price, session 3 | Intradiario Sesión 3`,
  ),
  ...group(
    { ...hourlyPrice, geos: [8741, 8742, 8743, 8744, 8745], published: 'evening', curve: 'retail', scale: 1 },
    `1001 | Término de facturación de energía activa del PVPC 2.0TD | Active energy invoicing price, PVPC 2.0TD | PVPC T. 2.0TD`,
  ),
  ...group(
    { ...hourlyPrice, geos: SPAIN_ONLY, published: 'evening', curve: 'price', scale: 0.92 },
    `1739 | Precio de la energía excedentaria del autoconsumo para el mecanismo de compensación simplificada (PVPC) | Price of surplus self-consumption energy for the simplified compensation (PVPC) | Precio de la energía excedentaria`,
  ),
  ...group(
    {
      ...hourlyPrice,
      geos: PENINSULA_ONLY,
      published: 'settled',
      terms: ['Mercados y precios', 'Liquidaciones'],
      isComposited: true,
      curve: 'price',
      scale: 1.15,
    },
    `10211 | Precio medio horario final suma de componentes | Average final hourly price, sum of components | Precio medio horario final suma`,
  ),
  ...group(
    { ...hourlyPrice, geos: PENINSULA_ONLY, curve: 'price', scale: 1 },
    `805 | Precio medio horario componente mercado diario | Average hourly price, day-ahead component | Mercado Diario`,
  ),
  ...group(
    { ...dayAhead, magnitude: ENERGY_MAGNITUDE, curve: 'demand', scale: 0.7 },
    `602 | Energía asignada en Mercado SPOT Diario España | Energy traded in the day-ahead market, Spain | Mercado SPOT Diario España`,
  ),
  ...group(
    { ...dayAhead, magnitude: ENERGY_MAGNITUDE, curve: 'capacity', scale: 0.4 },
    `
    533 | Programa comercial en la interconexión con Francia importación | Commercial schedule with France, import | Francia importación
    534 | Programa comercial en la interconexión con Francia exportación | Commercial schedule with France, export | Francia exportación`,
  ),
  ...group(
    { ...intraday, magnitude: ENERGY_MAGNITUDE, curve: 'demand', scale: 0.1 },
    `
    605 | Energía asignada en Mercado SPOT Intradiario sesión 1 | Energy traded, intraday session 1 | Mercado SPOT Intradiario sesión 1
    606 | Energía asignada en Mercado SPOT Intradiario sesión 2 | Energy traded, intraday session 2 | Mercado SPOT Intradiario sesión 2
    607 | Energía asignada en Mercado SPOT Intradiario sesión 3 | Energy traded, intraday session 3 | Mercado SPOT Intradiario sesión 3`,
  ),
  ...group({ ...livePower, curve: 'demand', scale: 1 }, `1293 | Demanda real | Actual demand | Demanda real`),
  ...group(
    { ...forecast, magnitude: POWER, steps: every(300), geos: PENINSULA_ONLY, curve: 'demand', scale: 1 },
    `544 | Demanda prevista | Forecast demand | Demanda prevista`,
  ),
  ...group(
    { ...schedule, magnitude: POWER, steps: every(300), geos: PENINSULA_ONLY, curve: 'demand', scale: 1 },
    `545 | Demanda programada | Scheduled demand | Demanda programada`,
  ),
  ...group(
    { ...powerForecast, curve: 'demand', scale: 1 },
    `460 | Previsión diaria de la demanda eléctrica peninsular | Daily demand forecast, Spanish peninsula | Previsión diaria`,
  ),
  ...group(
    { ...livePower, curve: 'wind', scale: 1 },
    `551 | Generación T.Real eólica | Real-time wind generation | Eólica`,
  ),
  ...group(
    { ...livePower, curve: 'solar', scale: 1 },
    `1295 | Generación T.Real Solar fotovoltaica | Real-time solar photovoltaic generation | Solar fotovoltaica`,
  ),
  ...group(
    { ...livePower, curve: 'solar', scale: 0.1 },
    `1294 | Generación T.Real Solar térmica | Real-time solar thermal generation | Solar térmica`,
  ),
  ...group(
    { ...livePower, curve: 'hydro', scale: 1 },
    `546 | Generación T.Real hidráulica | Real-time hydro generation | Hidráulica`,
  ),
  ...group(
    { ...livePower, curve: 'nuclear', scale: 1 },
    `549 | Generación T.Real nuclear | Real-time nuclear generation | Nuclear`,
  ),
  ...group(
    { ...livePower, curve: 'gas', scale: 1 },
    `550 | Generación T.Real C.Combinado | Real-time combined cycle generation | Ciclo combinado`,
  ),
  ...group(
    { ...livePower, curve: 'nuclear', scale: 0.35 },
    `1297 | Generación T.Real Cogeneración y resto | Real-time cogeneration and other | Cogeneración y resto`,
  ),
  ...group(
    { ...powerForecast, magnitude: ENERGY_MAGNITUDE, curve: 'wind', scale: 1 },
    `541 | Previsión de la producción eólica peninsular | Forecast of wind generation, Spanish peninsula | Previsión eólica`,
  ),
  ...group(
    { ...powerForecast, magnitude: ENERGY_MAGNITUDE, curve: 'solar', scale: 1 },
    `10034 | Generación prevista Solar | Forecast of solar generation | Previsión solar`,
  ),
  ...group(
    { ...operatingSchedule, curve: 'wind', scale: 1 },
    `10010 | Generación programada P48 Eólica | Scheduled generation P48, wind | Eólica`,
  ),
  ...group(
    { ...operatingSchedule, curve: 'flow', scale: 1 },
    `
    10207 | Saldo horario neto de interconexión con Francia telemedidas | Net interconnection balance with France | Saldo neto Francia telemedidas
    10208 | Saldo horario neto de interconexión con Portugal telemedidas | Net interconnection balance with Portugal | Saldo neto Portugal telemedidas
    10209 | Saldo horario neto de interconexión con Marruecos telemedidas | Net interconnection balance with Morocco | Saldo neto Marruecos telemedidas`,
  ),
  ...group(
    { ...operation, magnitude: CO2, steps: every(600), geos: PENINSULA_ONLY, curve: 'gas', scale: 0.06 },
    `10355 | CO2 Asociado Generación T.Real | CO2 of real-time generation | CO2 T.Real`,
  ),
  ...group(
    { ...powerForecast, curve: 'capacity', scale: 8 },
    `
    485 | Potencia disponible de generación Ciclo combinado horizonte año móvil | Available generating capacity, combined cycle, moving year | Ciclo combinado horizonte año móvil
    486 | Potencia disponible de generación Fuel horizonte año móvil | Available generating capacity, fuel oil, moving year | Fuel horizonte año móvil
    487 | Potencia disponible de generación Gas Natural horizonte año móvil | Available generating capacity, natural gas, moving year | Gas Natural horizonte año móvil`,
  ),
  ...group(
    { ...dayAhead, magnitude: POWER, curve: 'capacity', scale: 1 },
    `
    488 | Capacidad de intercambio (NTC) con Francia importación | Exchange capacity (NTC) with France, import | Francia importación
    489 | Capacidad de intercambio (NTC) con Portugal importación | Exchange capacity (NTC) with Portugal, import | Portugal importación
    490 | Capacidad de intercambio (NTC) con Marruecos importación | Exchange capacity (NTC) with Morocco, import | Marruecos importación
    491 | Capacidad de intercambio (NTC) con Andorra importación | Exchange capacity (NTC) with Andorra, import | Andorra importación
    492 | Capacidad de intercambio (NTC) con Francia exportación | Exchange capacity (NTC) with France, export | Francia exportación
    493 | Capacidad de intercambio (NTC) con Portugal exportación | Exchange capacity (NTC) with Portugal, export | Portugal exportación
    494 | Capacidad de intercambio (NTC) con Marruecos exportación | Exchange capacity (NTC) with Morocco, export | Marruecos exportación
    495 | Capacidad de intercambio (NTC) con Andorra exportación | Exchange capacity (NTC) with Andorra, export | Andorra exportación
    1844 | Capacidad de intercambio prevista (NTC) con Francia horizonte diario importación | Forecast exchange capacity (NTC) with France day-ahead horizon, import | Francia horizonte diario importación
    1845 | Capacidad de intercambio prevista (NTC) con Portugal horizonte diario importación | Forecast exchange capacity (NTC) with Portugal day-ahead horizon, import | Portugal horizonte diario importación
    1846 | Capacidad de intercambio prevista (NTC) con Marruecos horizonte diario importación | Forecast exchange capacity (NTC) with Morocco day-ahead horizon, import | Marruecos horizonte diario importación
    1848 | Capacidad de intercambio prevista (NTC) con Francia horizonte diario exportación | Forecast exchange capacity (NTC) with France day-ahead horizon, export | Francia horizonte diario exportación
    1849 | Capacidad de intercambio prevista (NTC) con Portugal horizonte diario exportación | Forecast exchange capacity (NTC) with Portugal day-ahead horizon, export | Portugal horizonte diario exportación
    1850 | Capacidad de intercambio prevista (NTC) con Marruecos horizonte diario exportación | Forecast exchange capacity (NTC) with Morocco day-ahead horizon, export | Marruecos horizonte diario exportación`,
  ),
  ...group(
    { ...dayAhead, magnitude: RENT, curve: 'rent', scale: 4 },
    `
    1117 | Rentas de congestión mecanismos implícitos diario Francia importación | Congestion rents, day-ahead, France, import | Francia importación
    1118 | Rentas de congestión mecanismos implícitos diario Francia exportación | Congestion rents, day-ahead, France, export | Francia exportación
    1119 | Rentas de congestión mecanismos implícitos diario Portugal importación | Congestion rents, day-ahead, Portugal, import | Portugal importación
    1120 | Rentas de congestión mecanismos implícitos diario Portugal exportación | Congestion rents, day-ahead, Portugal, export | Portugal exportación`,
  ),
  ...group(
    { ...intraday, magnitude: RENT, curve: 'rent', scale: 1.5 },
    `
    1121 | Rentas de congestión mecanismos implícitos intradiario 1 Portugal importación | Congestion rents, intraday session 1, Portugal, import | Portugal importación
    1122 | Rentas de congestión mecanismos implícitos intradiario 2 Portugal importación | Congestion rents, intraday session 2, Portugal, import | Portugal importación
    1123 | Rentas de congestión mecanismos implícitos intradiario 3 Portugal importación | Congestion rents, intraday session 3, Portugal, import | Portugal importación
    1128 | Rentas de congestión mecanismos implícitos intradiario 1 Portugal exportación | Congestion rents, intraday session 1, Portugal, export | Portugal exportación
    1129 | Rentas de congestión mecanismos implícitos intradiario 2 Portugal exportación | Congestion rents, intraday session 2, Portugal, export | Portugal exportación
    1130 | Rentas de congestión mecanismos implícitos intradiario 3 Portugal exportación | Congestion rents, intraday session 3, Portugal, export | Portugal exportación
    2102 | Rentas de congestión mecanismos implícitos intradiario 1 Francia importación | Congestion rents, intraday session 1, France, import | Francia importación
    2103 | Rentas de congestión mecanismos implícitos intradiario 2 Francia importación | Congestion rents, intraday session 2, France, import | Francia importación
    2104 | Rentas de congestión mecanismos implícitos intradiario 3 Francia importación | Congestion rents, intraday session 3, France, import | Francia importación
    2105 | Rentas de congestión mecanismos implícitos intradiario 1 Francia exportación | Congestion rents, intraday session 1, France, export | Francia exportación
    2106 | Rentas de congestión mecanismos implícitos intradiario 2 Francia exportación | Congestion rents, intraday session 2, France, export | Francia exportación
    2107 | Rentas de congestión mecanismos implícitos intradiario 3 Francia exportación | Congestion rents, intraday session 3, France, export | Francia exportación`,
  ),
  ...group(
    { ...livePower, curve: 'gas', scale: 0.05 },
    `547 | Generación T.Real carbón | Real-time coal generation | Carbón`,
  ),
  ...group(
    { ...powerForecast, curve: 'demand', scale: 1 },
    `1775 | Previsión diaria D+1 demanda | Day-ahead forecast of demand | Previsión diaria D+1 demanda`,
  ),
  ...group(
    { ...powerForecast, curve: 'wind', scale: 1 },
    `1777 | Previsión diaria D+1 eólica | Day-ahead forecast of wind | Previsión diaria D+1 eólica`,
  ),
  ...group(
    { ...powerForecast, curve: 'solar', scale: 1 },
    `1779 | Previsión diaria D+1 fotovoltaica | Day-ahead forecast of photovoltaic | Previsión D+1 fotovoltaica`,
  ),
  ...group(
    { ...measured, curve: 'wind', scale: 1 },
    `1159 | Generación medida Eólica terrestre | Measured generation, onshore wind | Eólica terrestre`,
  ),
  ...group(
    { ...measured, curve: 'solar', scale: 1 },
    `1161 | Generación medida Solar fotovoltaica | Measured generation, solar photovoltaic | Solar fotovoltaica`,
  ),
]

/** Offer indicators: the same envelope, without geos on their values. */
export const OFFERS: readonly Indicator[] = group(
  { ...dayAhead, magnitude: ENERGY_MAGNITUDE, steps: HOURLY, curve: 'demand', scale: 0.3 },
  `
    25 | Energía ofertada en el mercado diario | Energy offered in the day-ahead market | Oferta mercado diario
    26 | Energía demandada en el mercado diario | Energy bid for in the day-ahead market | Demanda mercado diario
    27 | Energía ofertada a subir, regulación terciaria | Upward tertiary energy offered | Terciaria a subir
    28 | Energía ofertada a bajar, regulación terciaria | Downward tertiary energy offered | Terciaria a bajar
    29 | Energía ofertada en regulación secundaria | Secondary energy offered | Secundaria`,
)
