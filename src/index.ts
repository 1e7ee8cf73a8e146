/** The public interface of the library. */

export { openSharedRun } from './cluster/sharedRun.ts'
export { openReader } from './db/open.ts'
export type { Durability, Reader, Store, StoreOptions } from './db/store.ts'
export { type Database, TABLES, VIEWS } from './db/tables/schema.ts'
export { type Emulator, type EmulatorOptions, startEmulator } from './emulator/startEmulator.ts'
export { findFindings } from './findings/findFindings.ts'
export { findGaps, type Gap } from './findings/findGaps.ts'
export type { Finding } from './findings/finding.ts'
export { type OpenFailure, readStatus, type Status, type StatusSeries } from './findings/readStatus.ts'
export type { Job } from './job/job.ts'
export type { PlannedRequest } from './job/plannedRequest.ts'
export { findMistakes, type Mistake, readJob } from './job/read.ts'
export { openDatabase, type PlanOptions, plan, type SyncOptions, sync } from './library.ts'
export type { Counts } from './load/counts.ts'
export type { ExportQuestion } from './reports/exportQuestion.ts'
export { type ExportColumn, type ExportTable, exportLong, exportWide } from './reports/exportValues.ts'
export { type Manifest, publish } from './reports/publishCopy.ts'
export { buildRequest } from './service/request.ts'
export { type Params, ROUTES, type RouteName } from './service/routes.ts'
export type { Service } from './service/service.ts'
export { SERVICES } from './service/services.ts'
export type { Progress, RequestFailure, SharedRun } from './sync/context.ts'
export type { Summary } from './sync/sync.ts'
export {
  BudgetError,
  BusyError,
  InputError,
  KeyError,
  PermanentError,
  SchemaError,
  SignalError,
  StoppedError,
  StoreError,
  SyncError,
  TransientError,
  UnavailableError,
} from './util/errors.ts'
export type { EventFields } from './util/eventFields.ts'
export { EVENTS, type EventName, type OnEvent, type SyncEvent } from './util/events.ts'
export { formatUtc, type Instant, parseInstant } from './util/time/instant.ts'
export type { Interval } from './util/time/interval.ts'
