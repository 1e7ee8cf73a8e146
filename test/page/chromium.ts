import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/*
 * A real Chromium for the tests of the page, from the npm registry with all libraries and its font, unpacked beside the
 * packages. Requires only an x64 Linux kernel. On other systems, PAGE_BROWSER names a Chrome or Chromium.
 */

const load = createRequire(import.meta.url)
// By its path, because the package does not export it.
const { version } = load('../../node_modules/@sparticuz/chromium/package.json') as { readonly version: string }
const HOME = resolve('node_modules/.cache', `chromium-${version}`)

/** Sets environment variables during an action. */
async function withVariables<T>(variables: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  Object.assign(process.env, variables)
  try {
    return await work()
  } finally {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

/** Unpacks the browser unless it is unpacked; safe for concurrent calls. */
async function unpacked(): Promise<void> {
  if (existsSync(join(HOME, 'chromium'))) return
  mkdirSync(join(HOME, '..'), { recursive: true })
  const aside = mkdtempSync(`${HOME}-`)
  // The package unpacks into the temporary folder and reuses files there. It adds its libraries only if a
  // variable says that the system has none.
  await withVariables({ TMPDIR: aside, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' }, async () => {
    const { default: packed } = await import('@sparticuz/chromium')
    packed.setGraphicsMode = false
    await packed.executablePath()
  })
  // The bundled file names folders of another system; this one names its own.
  writeFileSync(
    join(aside, 'fonts/fonts.conf'),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">.</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`,
  )
  try {
    renameSync(aside, HOME)
  } catch {
    // Another process was first.
    rmSync(aside, { recursive: true, force: true })
  }
}

const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
  ...['--disable-background-networking', '--disable-component-update'],
]

/** Starts the browser, which the caller closes. */
export async function launch(): Promise<Browser> {
  const own = process.env.PAGE_BROWSER
  if (own !== undefined) return chromium.launch({ executablePath: own, timeout: 0, args: ARGS })
  await unpacked()
  return chromium.launch({
    executablePath: join(HOME, 'chromium'),
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(HOME, 'al2023/lib'),
      FONTCONFIG_PATH: join(HOME, 'fonts'),
      XDG_CACHE_HOME: join(HOME, 'cache'),
    },
    // A busy machine may take any time.
    timeout: 0,
    args: ARGS,
  })
}
