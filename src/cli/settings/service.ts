import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { didYouMean } from '../../base/suggest.ts'
import { SERVICE_NAMES, SERVICES, type Service, type ServiceName } from '../../services/services.ts'

/** A name with a slash, or with the ending of a module, is a file. */
const namesFile = (named: string): boolean => /[/\\]|\.(?:[cm]?[jt]s|json)$/.test(named)

/** What a module exports as its service. */
function exportOf(file: string): unknown {
  const path = resolve(file)
  if (!existsSync(path))
    throw new InputError(`There is no file ${file} with the declaration of a service.`, {
      hint: `Give the path of a module, or one of the profiles ${SERVICE_NAMES.join(', ')}.`,
      code: 'no-service-file',
    })
  try {
    // Node loads ES modules this way too, as long as they do not wait for anything.
    const loaded = createRequire(path)(path) as Readonly<Record<string, unknown>> | null
    const module = loaded !== null && typeof loaded === 'object' ? loaded : {}
    return module.service ?? module.default ?? ('name' in module ? module : undefined)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new InputError(
      code === 'ERR_REQUIRE_ASYNC_MODULE'
        ? `${file} waits for something (a top-level await), which the declaration of a service must not.`
        : `${file} cannot be loaded: ${message.split('\n')[0]}`,
      {
        hint: 'It is an ES module: export const service = { name, vendor, baseUrl, timeZone }',
        code: 'bad-service-file',
        cause: error,
      },
    )
  }
}

/** The service of `--service`: a profile, or a file that declares one. `from`: where the name was given. */
export async function serviceOf(named: string, from: string): Promise<Service> {
  if (SERVICE_NAMES.includes(named as ServiceName)) return SERVICES[named as ServiceName]
  if (!namesFile(named))
    throw new InputError(
      `There is no service profile ${JSON.stringify(named)} (from ${from}); legal: ${SERVICE_NAMES.join(', ')}, or the path of a file that declares one, such as ./my-service.js.${didYouMean(named, SERVICE_NAMES)}`,
      { code: 'unknown-service' },
    )
  const declared = exportOf(named)
  if (declared === undefined)
    throw new InputError(`${named} exports no service.`, {
      hint: 'Add to it: export const service = { name, vendor, baseUrl, timeZone }',
      code: 'bad-service',
    })
  // Loaded only for it: most commands call a service that is built in.
  const { checkService } = await import('../../services/declared.ts')
  return checkService(declared, named)
}
