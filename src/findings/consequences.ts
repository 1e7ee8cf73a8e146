import type { OpenFailureRow } from '../state/failedRequests.ts'
import type { Trouble, TroubleOf } from './trouble.ts'

/* Rules about consequences that several kinds of findings share. */

/** Whether a list of ids is not empty, and `all` contains each of them. */
export const areWithin = (ids: readonly number[], all: readonly number[]): boolean =>
  ids.length > 0 && ids.every((id) => all.includes(id))

/** Why a job that did not run to its end lacks data: later data was not requested, or its request failed. */
const LEFT_BY_RUNS = ['never requested', 'failed', 'late']

/** Whether data is missing because its job did not run, or ended early. */
export const isLeftByRun = (cause: Trouble, trouble: Trouble): boolean =>
  (trouble.kind === 'gap' || trouble.kind === 'late') &&
  LEFT_BY_RUNS.includes(trouble.cause ?? '') &&
  areWithin(trouble.jobIds, cause.jobIds)

/** Whether all failed requests of a trouble match a condition. */
export const failedIn = ({ failures }: TroubleOf<'failure'>, matches: (failure: OpenFailureRow) => boolean): boolean =>
  failures.every(matches)
