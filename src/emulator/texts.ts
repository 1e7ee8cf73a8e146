/** A text in both languages. */
export interface Both {
  readonly es: string
  readonly en: string
}

const NAMED: Readonly<Record<string, string>> = {
  á: 'aacute',
  é: 'eacute',
  í: 'iacute',
  ó: 'oacute',
  ú: 'uacute',
  ñ: 'ntilde',
  Á: 'Aacute',
  '€': 'euro',
}

/** Writes the accents of a text as HTML entities, as the service's editor does. */
export const encode = (html: string): string => html.replaceAll(/[áéíóúñÁ€]/g, (letter) => `&${NAMED[letter]};`)

/** One glossary entry: its word and what it means. */
export type Entry = readonly [wordEs: string, wordEn: string, meaningEs: string, meaningEn: string]

export const GLOSSARY: readonly Entry[] = [
  [
    'Mercado diario',
    'Day-ahead market',
    'Mercado en el que se fija el precio de la energía para cada periodo del día siguiente.',
    'The market that sets the price of energy for every period of the next day.',
  ],
  [
    'Mercado intradiario',
    'Intraday market',
    'Mercado en el que se ajustan los programas después del mercado diario.',
    'The market in which schedules are adjusted after the day-ahead market.',
  ],
  [
    'Precio marginal',
    'Marginal price',
    'Precio de la última oferta que se acepta para cubrir la demanda.',
    'The price of the last offer accepted to meet demand.',
  ],
  [
    'PVPC',
    'PVPC',
    'Precio voluntario para el pequeño consumidor, ligado al mercado.',
    'The regulated retail price for small consumers, tied to market prices.',
  ],
  [
    'Demanda programada',
    'Scheduled demand',
    'Demanda que resulta de los programas de los mercados.',
    'The demand that follows from the schedules of the markets.',
  ],
  [
    'Demanda real',
    'Actual demand',
    'Demanda medida en tiempo real por el operador del sistema.',
    'Demand as the system operator measures it in real time.',
  ],
  [
    'Programa P48',
    'P48 schedule',
    'Programa operativo que se aplica hasta el final del horizonte diario.',
    'The operating schedule in force until the end of the daily horizon.',
  ],
  [
    'Restricciones técnicas',
    'Technical constraints',
    'Limitaciones de la red que obligan a cambiar los programas.',
    'Limits of the grid that force schedules to change.',
  ],
  [
    'Regulación secundaria',
    'Secondary regulation',
    'Servicio que corrige en minutos el desvío entre generación y consumo.',
    'A service that corrects within minutes the imbalance between generation and consumption.',
  ],
  [
    'Regulación terciaria',
    'Tertiary regulation',
    'Reserva que repone la regulación secundaria en un cuarto de hora.',
    'A reserve that restores secondary regulation within a quarter of an hour.',
  ],
  [
    'Desvío',
    'Imbalance',
    'Diferencia entre la energía medida y la programada.',
    'The difference between metered and scheduled energy, settled at the imbalance price.',
  ],
  [
    'Renta de congestión',
    'Congestion rent',
    'Ingreso por la diferencia de precios entre dos zonas unidas por una interconexión.',
    'Income from the price difference between two zones joined by an interconnection.',
  ],
  [
    'Capacidad de intercambio',
    'Exchange capacity',
    'Potencia que puede circular por una interconexión sin riesgo para el sistema.',
    'The power that may flow over an interconnection without risk to the system.',
  ],
  [
    'Ciclo combinado',
    'Combined cycle',
    'Central de gas que aprovecha el calor de los humos con una turbina de vapor.',
    'A gas plant that uses the heat of its exhaust in a steam turbine.',
  ],
  [
    'Cogeneración',
    'Cogeneration',
    'Producción conjunta de calor útil y electricidad.',
    'The joint production of useful heat and electricity.',
  ],
  [
    'Factor de emisión',
    'Emission factor',
    'Dióxido de carbono emitido por cada unidad de energía.',
    'Carbon dioxide emitted per unit of energy.',
  ],
  [
    'Energía excedentaria',
    'Surplus energy',
    'Energía que un autoconsumidor vierte a la red.',
    'Energy that a self-consumer feeds into the grid, paid at the price of surplus energy.',
  ],
  [
    'Peaje de acceso',
    'Access tariff',
    'Importe por el uso de las redes de transporte y distribución.',
    'The charge for using the transmission and distribution grids.',
  ],
  [
    'Perfil de consumo',
    'Load profile',
    'Reparto por horas del consumo de quien no tiene medida horaria.',
    'The hourly split of consumption for those without hourly meters.',
  ],
  [
    'Pérdidas',
    'Losses',
    'Energía que se disipa entre la central y el contador.',
    'Energy dissipated between the power plant and the meter.',
  ],
  [
    'Sistemas no peninsulares',
    'Non-peninsular systems',
    'Sistemas eléctricos de Canarias, Baleares, Ceuta y Melilla.',
    'The electricity systems of the Canary and Balearic Islands, Ceuta and Melilla.',
  ],
  [
    'Subasta explícita',
    'Explicit auction',
    'Venta de capacidad de interconexión separada de la energía.',
    'The sale of interconnection capacity apart from energy; its price is the value of the border.',
  ],
  [
    'Telemedida',
    'Telemetering',
    'Medida que llega al operador en el momento.',
    'Measurement that reaches the operator as it happens.',
  ],
  [
    'Indisponibilidad',
    'Unavailability',
    'Tiempo en que una instalación no puede producir o transportar.',
    'Time in which a plant or line cannot produce or carry energy.',
  ],
]

/** Kinds of news that come again and again. */
export const NEWS: readonly (readonly [title: Both, body: Both])[] = [
  [
    {
      es: 'Publicación de indicadores en resolución de 15 minutos',
      en: 'Publication of indicators in 15-minute resolution',
    },
    {
      es: 'Los indicadores siguientes tendr&aacute;n resoluci&oacute;n cuarto-horaria.',
      en: 'The following indicators will have quarter-hourly resolution.',
    },
  ],
  [
    { es: 'Actualización de las especificaciones técnicas', en: 'Update of the technical specifications' },
    {
      es: 'Se ha actualizado el documento de especificaciones t&eacute;cnicas del servicio.',
      en: 'The document with the technical specifications of the service has been updated.',
    },
  ],
  [
    { es: 'Modificado el documento de intercambio de información', en: 'Information exchange document modified' },
    {
      es: 'Se ha publicado una nueva versi&oacute;n del <a href="/documents/1">documento</a>.',
      en: 'A new version of the <a href="/documents/1">document</a> has been published.',
    },
  ],
  [
    { es: 'Resultado de la subasta anual de capacidad', en: 'Result of the yearly capacity auction' },
    {
      es: 'Ya est&aacute;n disponibles los resultados de la subasta.',
      en: 'The results of the auction are available.',
    },
  ],
  [
    { es: 'Parada programada del portal', en: 'Planned maintenance of the site' },
    {
      es: 'El portal no estar&aacute; disponible entre las 6:00 y las 8:00.',
      en: 'The site will not be available between 6:00 and 8:00.',
    },
  ],
]

export const DOCUMENTATIONS: readonly Both[] = [
  { es: 'Guía de la API', en: 'Guide to the API' },
  { es: 'Manual del mercado diario', en: 'Handbook of the day-ahead market' },
  { es: 'Procedimientos de operación', en: 'Operating procedures' },
  { es: 'Liquidaciones del sistema', en: 'Settlements of the system' },
  { es: 'Servicio de respuesta activa de la demanda', en: 'Active demand response service' },
  { es: 'Control de tensión', en: 'Voltage control' },
  { es: 'Participación de la generación renovable', en: 'Participation of renewable generation' },
  { es: 'Preguntas frecuentes', en: 'Frequently asked questions' },
]

export const STATIC_PAGES: readonly Both[] = [
  { es: 'Aviso legal', en: 'Legal notice' },
  { es: 'Política de privacidad', en: 'Privacy policy' },
  { es: 'Accesibilidad', en: 'Accessibility' },
  { es: 'Sobre nosotros', en: 'About us' },
  { es: 'Contacto', en: 'Contact' },
]

/** Terms of the taxonomy, with the vocabulary that each belongs to. */
export const VOCABULARIES: ReadonlyMap<number, Both> = new Map([
  [5, { es: 'Acción', en: 'Action' }],
  [14, { es: 'Proceso', en: 'Process' }],
  [20, { es: 'Universo', en: 'Universe' }],
  [21, { es: 'Temática', en: 'Subject' }],
  [22, { es: 'Área', en: 'Area' }],
])
export const TERMS: ReadonlyMap<number, Both & { readonly vocabulary: number }> = new Map([
  [155, { es: 'Generación y consumo', en: 'Generation and consumption', vocabulary: 20 }],
  [156, { es: 'Mercados y precios', en: 'Markets and prices', vocabulary: 20 }],
  [165, { es: 'Descargas', en: 'Downloads', vocabulary: 21 }],
  [168, { es: 'General', en: 'General', vocabulary: 22 }],
  [170, { es: 'Liquidaciones', en: 'Settlements', vocabulary: 22 }],
  [172, { es: 'Programas', en: 'Schedules', vocabulary: 22 }],
])
