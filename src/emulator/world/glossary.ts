import { parseArticles } from './texts.ts'

/** The words of the market. */
export const GLOSSARY = parseArticles(`
  Mercado diario | Day-ahead market | Mercado en el que se fija el precio de la energía para cada periodo del día siguiente. | The market that sets the price of energy for every period of the next day.
  Mercado intradiario | Intraday market | Mercado en el que se ajustan los programas después del mercado diario. | The market in which schedules are adjusted after the day-ahead market.
  Precio marginal | Marginal price | Precio de la última oferta que se acepta para cubrir la demanda. | The price of the last offer accepted to meet demand.
  PVPC | PVPC | Precio voluntario para el pequeño consumidor, ligado al mercado. | The regulated retail price for small consumers, tied to market prices.
  Demanda programada | Scheduled demand | Demanda que resulta de los programas de los mercados. | The demand that follows from the schedules of the markets.
  Demanda real | Actual demand | Demanda medida en tiempo real por el operador del sistema. | Demand as the system operator measures it in real time.
  Programa P48 | P48 schedule | Programa operativo que se aplica hasta el final del horizonte diario. | The operating schedule in force until the end of the daily horizon.
  Restricciones técnicas | Technical constraints | Limitaciones de la red que obligan a cambiar los programas. | Limits of the grid that force schedules to change.
  Regulación secundaria | Secondary regulation | Servicio que corrige en minutos el desvío entre generación y consumo. | A service that corrects within minutes the imbalance between generation and consumption.
  Regulación terciaria | Tertiary regulation | Reserva que repone la regulación secundaria en un cuarto de hora. | A reserve that restores secondary regulation within a quarter of an hour.
  Desvío | Imbalance | Diferencia entre la energía medida y la programada. | The difference between metered and scheduled energy, settled at the imbalance price.
  Renta de congestión | Congestion rent | Ingreso por la diferencia de precios entre dos zonas unidas por una interconexión. | Income from the price difference between two zones joined by an interconnection.
  Capacidad de intercambio | Exchange capacity | Potencia que puede circular por una interconexión sin riesgo para el sistema. | The power that may flow over an interconnection without risk to the system.
  Ciclo combinado | Combined cycle | Central de gas que aprovecha el calor de los humos con una turbina de vapor. | A gas plant that uses the heat of its exhaust in a steam turbine.
  Cogeneración | Cogeneration | Producción conjunta de calor útil y electricidad. | The joint production of useful heat and electricity.
  Factor de emisión | Emission factor | Dióxido de carbono emitido por cada unidad de energía. | Carbon dioxide emitted per unit of energy.
  Energía excedentaria | Surplus energy | Energía que un autoconsumidor vierte a la red. | Energy that a self-consumer feeds into the grid, paid at the price of surplus energy.
  Peaje de acceso | Access tariff | Importe por el uso de las redes de transporte y distribución. | The charge for using the transmission and distribution grids.
  Perfil de consumo | Load profile | Reparto por horas del consumo de quien no tiene medida horaria. | The hourly split of consumption for those without hourly meters.
  Pérdidas | Losses | Energía que se disipa entre la central y el contador. | Energy dissipated between the power plant and the meter.
  Sistemas no peninsulares | Non-peninsular systems | Sistemas eléctricos de Canarias, Baleares, Ceuta y Melilla. | The electricity systems of the Canary and Balearic Islands, Ceuta and Melilla.
  Subasta explícita | Explicit auction | Venta de capacidad de interconexión separada de la energía. | The sale of interconnection capacity apart from energy; its price is the value of the border.
  Telemedida | Telemetering | Medida que llega al operador en el momento. | Measurement that reaches the operator as it happens.
  Indisponibilidad | Unavailability | Tiempo en que una instalación no puede producir o transportar. | Time in which a plant or line cannot produce or carry energy.
  Programa base de funcionamiento | Base operating schedule | Programa de energía que resulta del mercado diario y de los contratos bilaterales (PBF). | The schedule that follows from the day-ahead market and from bilateral contracts.
  Contrato bilateral | Bilateral contract | Acuerdo de compra y venta de energía entre dos sujetos, fuera del mercado organizado. | An agreement between two parties to trade energy outside the organised market.
  Consumo de bombeo | Pumping consumption | Energía con la que se eleva agua para turbinarla más tarde. | Energy used to lift water that will be turbined later.
  Autoconsumo | Self-consumption | Consumo de energía que procede de una instalación próxima asociada al consumidor. | Consumption of energy from a nearby plant that belongs with the consumer.
  Agregador | Aggregator | Participante que reúne la demanda o la generación de varios clientes para ofrecerla junta. | A participant that combines the demand or generation of several customers into one offer.
  Zona de precio | Bidding zone | Territorio en el que la energía tiene el mismo precio en cada periodo. | The territory in which energy has the same price in every period.`)
