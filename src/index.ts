/** The public interface of the library. */

export * from './base/errors.ts'
export type { EventFields } from './base/eventFields.ts'
export { EVENTS, type EventName, type OnEvent, type SyncEvent } from './base/events.ts'
export { formatUtc, type Instant, parseInstant } from './base/time/instant.ts'
export type { Interval } from './base/time/interval.ts'
export { type Finding, runChecks } from './checks/check.ts'
export { findGaps, type Gap } from './checks/gaps.ts'
export { type OpenFailure, readStatus, type Status, type StatusSeries } from './checks/status.ts'
export { openSharedRun, type SharedRun } from './cluster/sharedRun.ts'
export { lockWriter, openWriter } from './db/lock.ts'
export { openReader, openStore } from './db/open.ts'
export type { Durability, Reader, Store, StoreOptions } from './db/store.ts'
export { type Emulator, type EmulatorOptions, startEmulator } from './emulator/emulator.ts'
export type { Job } from './job/job.ts'
export type { PlannedRequest } from './job/plannedRequest.ts'
export { findMistakes, type Mistake, readJob } from './job/read.ts'
export type { Counts } from './load/counts.ts'
export { plan } from './plan/plan.ts'
export type { Planning, PlanOptions } from './plan/planning.ts'
export {
  type Clock,
  type ExportColumn,
  type Exported,
  exportLong,
  exportWide,
} from './products/export.ts'
export type { ExportQuestion } from './products/exportQuestion.ts'
export { type Manifest, publish } from './products/publish.ts'
export { buildRequest } from './services/request.ts'
export { type Params, ROUTES, type RouteName } from './services/routes.ts'
export { SERVICES, type Service } from './services/services.ts'
export { readPlannerState } from './state/readPlannerState.ts'
export type { Failed, Progress, SyncContext } from './sync/context.ts'
export type { RejectPolicy } from './sync/execute.ts'
export { type Summary, sync } from './sync/sync.ts'
export { type Database, TABLES, VIEWS } from './tables/schema.ts'
