import { test } from 'vitest'

/* Tests of features that some systems lack; these systems skip them. */

type Test = ReturnType<typeof test.skipIf>

const isWindows = process.platform === 'win32'

/** Windows ends a process instead of sending it a signal. */
export const testSignals: Test = test.skipIf(isWindows)

/** Windows makes symbolic links only for privileged users. */
export const testLinks: Test = test.skipIf(isWindows)

/** Windows has no file modes. */
export const testModes: Test = test.skipIf(isWindows)

/** Windows has no `sh`, `mkfifo` and `/dev`. */
export const testShell: Test = test.skipIf(isWindows)

/** Only Linux has `/proc`, and `/dev/full`, on which every write fails. */
export const testLinux: Test = test.skipIf(process.platform !== 'linux')
