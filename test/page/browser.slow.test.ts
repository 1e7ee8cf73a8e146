import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openWriter } from '../../src/db/lock.ts'
import { TABLES } from '../../src/db/tables/schema.ts'
import { writePage } from '../../src/page/pageFolder.ts'
import { PAGES } from '../../src/page/pages.ts'
import { WORDS } from '../../src/page/words/words.ts'
import { SERVICES } from '../../src/service/services.ts'
import { serve, tempFolder } from '../support/kit.ts'
import { openReader, openStore, type Store } from '../support/testStore.ts'
import { accessibilityFaults, window } from './browser.ts'
import { filledFile, HOSTILE, NOW, servePage, sharedFile } from './site.ts'

/** Elements and handlers that no page contains. */
const ALIVE =
  'script:not([src]):not([type="application/json"]), img, iframe, [onerror], [onfocus], [autofocus], a[href^="javascript" i]'

/** Puts hostile text into every text column, like a hostile service. */
function spoil(store: Store): void {
  const keep =
    /^(kind|locale|time_trunc|time_zone|zone|outcome|command|state|route|reason|form|host|geo_ids|params|name_key)$|_at$|^(version|hash|reply_hash|schedule)$/
  for (const [table, { columns, key }] of Object.entries(TABLES)) {
    if (/^(_migration|_lock|_fence|_reply|_source|data_dictionary|time_zone_offset)/.test(table)) continue
    for (const [column, { store: kind }] of Object.entries(columns as Record<string, { store: string }>))
      if (kind === 'text' && !keep.test(column) && !(key as readonly string[]).includes(column))
        try {
          store.run(`update ${table} set ${column} = ?`, [HOSTILE])
        } catch {
          // A trigger or check refuses it, so that no service can insert it either.
        }
  }
}

test('the copy button copies the command', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${url}/coverage/s4`)
  await page.getByRole('button', { name: 'Copy: npx indicator-sync retry' }).click()
  await page.getByRole('button', { name: 'Copy: npx indicator-sync retry' }).getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npx indicator-sync retry')
  expect(page.wrong).toEqual([])
})

test('a copied link opens the view on another computer, with the token', async () => {
  const { url } = await servePage(await sharedFile(), { door: { names: [], token: 'secret' } })
  const page = await window({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${url}/series/600?geo=3&token=secret`)
  expect(page.url()).not.toContain('token')
  await page.locator('#saved summary').click()
  await page.getByRole('button', { name: 'Copy link to this view' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const link = (await page.evaluate('navigator.clipboard.readText()')) as string
  // Another computer has no clipboard over HTTP.
  await page.evaluate('navigator.clipboard.writeText("")')
  await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
  await page.reload()
  await page.locator('#saved summary').click()
  await page.getByRole('button', { name: 'Copy link to this view' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.locator('[name=q]').first().focus()
  await page.keyboard.press('Control+V')
  expect(await page.locator('[name=q]').first().inputValue()).toBe(link)
  // A click in a chat or a mail comes from another site.
  const chat = await serve((_request, response) => response.end(`<a href="${link}">a view</a>`))
  const other = await window()
  for (const visit of ['first', 'second']) {
    await other.goto(chat.url.replace('127.0.0.1', 'localhost'))
    await other.click('a')
    await other.waitForURL(/geo=3$/)
    expect(await other.title(), visit).toContain('600')
  }
})

test('a browser that forbids copying shows the link', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.addInitScript(
    'navigator.clipboard.writeText = () => Promise.reject(new Error("denied")); document.execCommand = () => false',
  )
  await page.goto(`${url}/series/600?last=7`)
  let shown = ''
  page.on('dialog', (dialog) => {
    shown = dialog.defaultValue()
    void dialog.dismiss()
  })
  await page.locator('#saved summary').click()
  await page.getByRole('button', { name: 'Copy link to this view' }).click()
  expect(shown).toBe(`${url}/series/600?last=7`)
  expect(await page.getByRole('button', { name: 'Copied' }).count()).toBe(0)
  expect(page.wrong).toEqual([])
})

test('with findings and an older success, the header stays one line', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window({ viewport: { width: 1280, height: 800 } })
  for (const locale of ['en', 'es'] as const) {
    await page.goto(`${url}/?lang=${locale}`)
    await page.locator('#saved').waitFor()
    const { home, common } = WORDS[locale]
    const text = `${home.needs} · ${common.lastSync} 12 min · ${common.lastSuccess} 2025-11-01 12:00`
    await page.locator('.synced span').evaluate((element, words) => element.replaceChildren(words), text)
    const places = await page.locator('header > div > *').evaluateAll((all) =>
      all.map((element) => {
        const { top, height } = element.getBoundingClientRect()
        return top + height / 2
      }),
    )
    expect(Math.max(...places) - Math.min(...places), locale).toBeLessThan(8)
  }
})

test('a slash leads to the search, except in a field', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.goto(`${url}/sql`)
  await page.fill('#sql', 'select 1')
  await page.press('#sql', '/')
  expect(await page.inputValue('#sql')).toBe('select 1/')
  await page.locator('h1').click()
  await page.keyboard.press('/')
  await page.locator('.find input:focus').waitFor()
  expect(await page.inputValue('.find input')).toBe('')
})

test('Ctrl+Enter runs a query', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.goto(`${url}/sql`)
  await page.locator('#sql').fill('select 40 + 2 as answer')
  await page.locator('#sql').press('Control+Enter')
  await page
    .getByRole('cell', { name: '42' })
    .or(page.getByRole('rowheader', { name: '42' }))
    .waitFor()
})

test('the days of a year are one tab stop, and the arrow keys move between days', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.goto(`${url}/coverage/600`)
  const stops = page.locator('.days a[tabindex="0"]')
  await stops.waitFor()
  expect(await stops.count()).toBe(1)
  await stops.focus()
  for (const key of ['Home', 'ArrowRight', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key)
  const at = () => page.evaluate(`document.activeElement.textContent`)
  expect(await at()).toBe('2025-10-02: final')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/series\/600\?day=2025-10-02$/)
})

test('the bar of a mixed month has the colours of its states', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.goto(`${url}/coverage/600`)
  const bar = page.locator('.grid td.mixed svg').first()
  const picture = `data:image/png;base64,${(await bar.screenshot()).toString('base64')}`
  const colours = (await page.evaluate(`new Promise((done) => {
    const image = new Image()
    image.onload = () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
      const pen = canvas.getContext('2d')
      pen.drawImage(image, 0, 0)
      done([0.02, 0.98].map((at) => [...pen.getImageData(at * image.width, image.height / 2, 1, 1).data].slice(0, 3)))
    }
    image.src = '${picture}'
  })`)) as [number, number, number][]
  for (const [red, green, blue] of colours) expect(Math.max(red, green, blue)).toBeGreaterThan(60)
  expect(new Set(colours.map(String)).size).toBe(2)
})

test('every page works without scripts', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window({ javaScriptEnabled: false })
  await page.goto(`${url}/coverage/600`)
  expect(await page.locator('.days a').count()).toBe(61)
  await page.getByLabel('For').selectOption('1')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/geo=1/)
  expect(await page.locator('option[selected]').textContent()).toMatch(/^1 /)
})

test('words in tables are not broken, even on a narrow screen', async () => {
  const { url } = await servePage(await sharedFile())
  for (const width of [1200, 320]) {
    const page = await window({ viewport: { width, height: 800 } })
    for (const path of ['/', '/runs', '/runs/1', '/series/600']) {
      await page.goto(url + path)
      // A broken word has several boxes. Commands and addresses may be broken.
      const broken = await page.evaluate(`[...document.querySelectorAll('td, [data-part=table] th')].flatMap((cell) => {
        const words = []
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
        while (texts.nextNode()) {
          const { currentNode: text } = texts
          if (text.parentElement.closest('code')) continue
          for (const { 0: word, index } of text.data.matchAll(/[\\w.:]+( ms)?/g)) {
            const range = document.createRange()
            range.setStart(text, index)
            range.setEnd(text, index + word.length)
            if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) words.push(word)
          }
        }
        return words
      })`)
      expect(broken, `${path} at ${width}`).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), path).toBe(true)
    }
  }
})

test('a typed statement runs, and the URL contains it', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.goto(`${url}/sql`)
  await page.getByLabel('Statement').fill('select count(*) as indicators from indicator where id = :id')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByLabel('id').fill('600')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.waitForURL(/p\.id=600/)
  expect(await page.getByRole('rowheader').allTextContents()).toEqual(['1'])
  expect(page.wrong).toEqual([])
})

test('the page of an active run follows its progress', async () => {
  let id = 0
  const file = await filledFile((store) => {
    id = store.get('select max(id) from _run') as number
    store.run(`update _run set outcome = 'running', finished_at = null where id = ?`, [id])
  })
  // A run without the lock of the database would be dead.
  const store = await openWriter(file, 'sync')
  const { url } = await servePage(file)
  const page = await window()
  const heard = page.waitForResponse((response) => response.url().endsWith('/api/live'))
  await page.goto(`${url}/runs/${id}`)
  await heard
  await page.locator('main progress').waitFor()
  await store.write(async (tx) => {
    await tx.updateTable('_run').set({ outcome: 'done', requests: 4321 }).where('id', '=', id).execute()
  })
  await page.locator('main').getByText('4,321').waitFor()
  expect(await page.locator('main .running').count()).toBe(0)
  await store.close()
})

test('a view can be saved by name, exported, removed and imported', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  await page.goto(`${url}/series/600?day=2025-10-02`)
  await page.getByText('Saved views').click()
  await page.getByLabel('Name of this view').fill('A day')
  await page.getByRole('button', { name: 'Save' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export' }).click()
  const file = join(tempFolder(), 'views.json')
  await (await download).saveAs(file)
  await page.goto(`${url}/runs`)
  await page.getByText('Saved views').click()
  await page.getByRole('button', { name: 'Remove A day' }).click()
  expect(await page.locator('#saved li').count()).toBe(0)
  await page.getByLabel('Import').setInputFiles(file)
  await page.getByRole('link', { name: 'A day' }).waitFor()
  // Browsers report no change if the same file is chosen again, unless the field is empty.
  expect(await page.getByLabel('Import').inputValue()).toBe('')
  await page.getByRole('link', { name: 'A day' }).click()
  await page.waitForURL(/series\/600\?day=2025-10-02$/)
  expect(page.wrong).toEqual([])
})

test('a saved view replaces no other one, and a file without views is refused', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  for (const range of ['last=7', 'last=30', 'last=7']) {
    await page.goto(`${url}/series/600?${range}`)
    await page.getByText('Saved views').click()
    expect(await page.getByLabel('Name of this view').inputValue()).toMatch(/^600 .* · Last (7|30) days$/)
    await page.getByLabel('Name of this view').fill(' Mine ')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Saved' }).waitFor()
  }
  expect(await page.locator('#saved li a').allInnerTexts()).toEqual(['Mine', 'Mine (2)'])
  await page.getByLabel('Name of this view').fill('long '.repeat(50))
  await page.getByRole('button', { name: 'Saved' }).click()
  await page.reload()
  await page.getByText('Saved views').click()
  expect(await page.locator('#saved li').count()).toBe(3)
  await page.locator('#saved li button').last().click()
  await page.getByLabel('Name of this view').fill('   ')
  await page.getByRole('button', { name: 'Save' }).click()
  expect(await page.locator('#saved li').count()).toBe(2)
  let said = ''
  page.on('dialog', (dialog) => {
    said = dialog.message()
    void dialog.dismiss()
  })
  await page
    .getByLabel('Import')
    .setInputFiles({ name: 'views.json', mimeType: 'application/json', buffer: Buffer.from('not JSON') })
  await expect.poll(() => said).toBe('This file has no saved views.')
  const foreign = ['/\t/evil.example/', '//evil.example/', 'https://evil.example/'].map((address) => ({
    name: 'x',
    address,
  }))
  const bad = JSON.stringify([...foreign, { name: ' ', address: '/' }, { name: 'y'.repeat(5000), address: '/' }])
  said = ''
  await page
    .getByLabel('Import')
    .setInputFiles({ name: 'bad.json', mimeType: 'application/json', buffer: Buffer.from(bad) })
  await expect.poll(() => said).toBe('This file has no saved views.')
  expect(page.wrong).toEqual([])
})

test('text of a hostile service is never executed, parsed as HTML or requested elsewhere', async () => {
  const { url } = await servePage(await filledFile(spoil))
  const page = await window()
  const elsewhere: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) elsewhere.push(request.url())
  })
  for (const path of PAGES.map(({ path }) =>
    path
      .replace(/:id\b/, '600')
      .replace(/:geo\b/, '3')
      .replace(/:at\b/, '1761955200')
      .replace(/:\w+/g, '1'),
  )) {
    await page.goto(`${url}${path}`)
    expect(
      await page.evaluate(`[globalThis.hacked, document.querySelectorAll(${JSON.stringify(ALIVE)}).length]`),
      path,
    ).toEqual([undefined, 0])
    const { ok, headers } = await fetch(`${url}${path === '/' ? '/index' : path}.json`)
    if (ok) expect(headers.get('content-type'), path).toMatch(/^application\/json/)
  }
  expect(elsewhere).toEqual([])
  expect(page.wrong.filter((text) => /Security|CSP|violat|Refused/i.test(text))).toEqual([])
})

test('a page of another site cannot read the data in a real browser', async () => {
  const { url } = await servePage(await sharedFile())
  const evil = await serve((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' })
    response.end(
      `<title>evil</title><iframe src="${url}/"></iframe><img src="${url}/"><script src="${url}/index.json"></script>`,
    )
  })
  const page = await window()
  const statuses: number[] = []
  page.on('response', (response) => {
    if (response.url().startsWith(url)) statuses.push(response.status())
  })
  await page.goto(evil.url.replace('127.0.0.1', 'localhost'))
  for (const how of [{}, { mode: 'no-cors' }, { credentials: 'include' }])
    expect(
      await page.evaluate(
        `fetch('${url}/index.json', ${JSON.stringify(how)}).then((r) => r.text()).then((t) => t.length, () => 'refused')`,
      ),
    ).toBeOneOf(['refused', 0])
  expect(
    await page.evaluate(`frames[0].document === undefined || frames[0].document.title`).catch(() => 'refused'),
  ).toBe('refused')
  expect(statuses.filter((status) => status === 200)).toEqual([])
})

test('exported pages open from disk without browser errors or axe faults', async () => {
  const place = join(tempFolder(), 'page')
  const reader = openReader(await sharedFile())
  await writePage(reader, place, {
    ...{ locale: 'en', service: SERVICES.generic, now: NOW / 1000 },
    ...{ range: {}, overwrite: false, sources: [] },
  })
  await reader.close()
  const page = await window()
  const looked = await window({ colorScheme: 'dark' })
  for (const name of ['index.html', 'coverage/600.html', 'series/600.html', 'texts.kind-glossary.html']) {
    const { href } = pathToFileURL(join(place, name))
    await page.goto(href)
    // Axe fetches the style sheet again, which a browser blocks for files.
    await looked.goto(href)
    expect(await accessibilityFaults(looked), name).toEqual([])
  }
  expect(page.wrong).toEqual([])
  // Cells have the same height as on a server, and no hint mentions missing keys or links.
  await page.goto(pathToFileURL(join(place, 'coverage/600.html')).href)
  expect(
    await page.evaluate(
      `[...document.querySelectorAll('.days td[class]')].filter((cell) => cell.getBoundingClientRect().height < 28).length`,
    ),
  ).toBe(0)
  expect(await page.innerText('main')).not.toMatch(/Arrow keys|leads to the days/)
  await page.goto(pathToFileURL(join(place, 'index.html')).href)
  expect(await page.innerText('footer')).toContain('Published 2025-11-04 13:00')
  expect(await page.innerText('main')).toContain('Data until, when published')
  await page.getByRole('link', { name: /^600 / }).first().click()
  await page.waitForURL(/series\/600\.html$/)
  await page.getByRole('link', { name: 'Texts' }).click()
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
})

test('a statement in a link from another site runs only after a click', async () => {
  const { url } = await servePage(await sharedFile())
  const page = await window()
  const { origin } = new URL(url)
  await page.route('http://elsewhere.test/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<a href="${origin}/sql?sql=${encodeURIComponent('select 7 as seven')}">look</a>`,
    }),
  )
  await page.goto('http://elsewhere.test/')
  await page.getByRole('link').click()
  await page.getByText('Another site links here').waitFor()
  expect(await page.getByLabel('Statement').inputValue()).toBe('select 7 as seven')
  expect(await page.getByRole('rowheader').count()).toBe(0)
  await page.getByRole('button', { name: 'Run' }).click()
  expect(await page.getByRole('rowheader').allTextContents()).toEqual(['7'])
})

test.each([1440, 1024, 768, 390])('age and coverage are visible at %i px, even with long names', async (width) => {
  const { url } = await servePage(
    await filledFile((store) => store.run(`update indicator_text set name = ?`, ['Unbreakable'.repeat(20)])),
  )
  const page = await window({ viewport: { width, height: 900 } })
  await page.goto(`${url}/`)
  for (const place of ['.age', '.wide svg']) {
    const { x, width: own } = (await page.locator(`table.series ${place}`).first().boundingBox())!
    expect(x + own, place).toBeLessThanOrEqual(width)
  }
})

test.each([1440, 1100, 768, 390])('the labels of a picture are readable at %i px', async (width) => {
  const { url } = await servePage(await sharedFile())
  const page = await window({ viewport: { width, height: 900 }, javaScriptEnabled: false })
  await page.goto(`${url}/series/600`)
  // A line of text is about 1.4 times as high as its letters.
  const { height } = (await page.locator('.figure text').first().boundingBox())!
  expect(height).toBeGreaterThanOrEqual(13)
})

/** Opens a page and waits until it watches the database. */
async function watching(address: string) {
  const page = await window()
  const polled = page.waitForResponse((response) => response.url().endsWith('/api/live'))
  await page.goto(address)
  await polled
  return page
}

async function rename(file: string, name: string): Promise<void> {
  const store = await openStore(file)
  store.run(`update indicator_text set name = ? where id = 600`, [name])
  await store.close()
}

test('a page update changes only what differs, and keeps focus and open sections', async () => {
  const file = await filledFile(() => undefined)
  const { url } = await servePage(file)
  const page = await watching(`${url}/`)
  await page.getByRole('link', { name: /^600 / }).focus()
  await page.evaluate(`{
    document.querySelector('.series').mark = 'kept'
    document.querySelector('main').append(Object.assign(document.createElement('details'), { open: true, id: 'mine' }))
  }`)
  await rename(file, 'Otro nombre')
  await page.getByRole('link', { name: '600 Otro nombre', exact: false }).waitFor()
  expect(await page.evaluate(`document.activeElement.textContent`)).toContain('Otro nombre')
  expect(await page.evaluate(`[document.querySelector('.series').mark, document.querySelector('#mine').open]`)).toEqual(
    ['kept', true],
  )
  await page.getByRole('status').getByText('is updated').waitFor({ state: 'attached' })
  expect(page.wrong).toEqual([])
})

test('a page update waits while the pointer moves over the page', async () => {
  const file = await filledFile(() => undefined)
  const { url } = await servePage(file)
  const page = await watching(`${url}/`)
  await rename(file, 'Otro nombre')
  for (let i = 0; i < 40; i++) {
    await page.mouse.move(200 + i, 200)
    await page.waitForTimeout(100)
  }
  expect(await page.getByText('Otro nombre').count()).toBe(0)
  await page.getByText('Otro nombre').first().waitFor()
})

test('a page says that the server is gone, and no longer when it is back', async () => {
  const file = await filledFile(() => undefined)
  const first = await servePage(file)
  const page = await watching(`${first.url}/`)
  await first.close()
  await page.getByText(/No connection to the server since \d/).waitFor()
  expect(await page.title()).toMatch(/^⚠ /)
  const again = await servePage(file, {}, '127.0.0.1', Number(new URL(first.url).port))
  expect(again.url).toBe(first.url)
  await page.getByText('No connection').waitFor({ state: 'hidden' })
  expect(await page.title()).not.toContain('⚠')
})

test('ten windows can load pages at the same time', async () => {
  const { url } = await servePage(await filledFile(() => undefined))
  const first = await watching(`${url}/`)
  for (let i = 0; i < 9; i++) {
    const page = await first.context().newPage()
    await page.goto(`${url}/runs`)
    expect(await page.locator('h1').textContent()).toBe('Runs')
  }
})
