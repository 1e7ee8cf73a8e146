import type { IncomingHttpHeaders } from 'node:http'
import { isLocale, PAGE_LOCALES, type PageLocale } from '../words/locale.ts'
import { cookieOf } from './security.ts'

/** The name of the cookie that holds the language. */
export const LANGUAGE_COOKIE = 'indicator_sync_lang'

/** The first supported language in the browser's list; English where it sends none. */
function preferred(accepted: string): PageLocale {
  const wanted = accepted
    .split(',')
    .map((part) => {
      const [tag = '', ...rest] = part.split(';').map((word) => word.trim())
      const quality = rest.find((word) => word.startsWith('q='))
      return { language: tag.slice(0, 2).toLowerCase(), weight: quality ? Number(quality.slice(2)) || 0 : 1 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ language }) => language)
    .find(isLocale)
  return wanted ?? PAGE_LOCALES[0]
}

/** The language of an answer: the one in the address, else the one chosen before, else the browser's. */
export function chooseLocale(query: URLSearchParams, headers: IncomingHttpHeaders): PageLocale {
  const [requested, chosen] = [query.get('lang'), cookieOf(headers, LANGUAGE_COOKIE)]
  if (isLocale(requested)) return requested
  return isLocale(chosen) ? chosen : preferred(headers['accept-language'] ?? '')
}
