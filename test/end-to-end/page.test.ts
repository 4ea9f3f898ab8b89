import { readFile } from 'node:fs/promises'
import axe from 'axe-core'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { doctorHtml } from '../../src/output/doctor/html.ts'
import { scanHtml } from '../../src/output/scan/html.ts'
import { eventful, healthy, hostile } from '../output/reports.ts'
import * as scans from '../output/scan/documents.ts'
import { browserProgram } from '../support/browser.ts'
import { spread } from '../support/campaign.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

const timeoutMs = 120_000
const doctor = (report: DoctorReport): string => doctorHtml(report, { exitCode: 1, areWarningsFailures: true })

/** Keys whose values are of this program's own: one of a few words, or a time. */
const closed = new Set([
  'status',
  'severity',
  'kind',
  'code',
  'at',
  'from',
  'to',
  'first',
  'last',
  'began',
  'startedAt',
])

/** The document with each text from outside replaced. */
function withTexts<T>(document: T, replaced: (text: string) => string): T {
  const walk = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return closed.has(key) ? value : replaced(value)
    if (Array.isArray(value)) return value.map((it) => walk(it, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, walk(it, name)]))
  }
  return walk(document) as T
}

const injection =
  `</title></style></script></code></pre>"'><script>document.title='run'</script>` +
  `<img src=x onerror="document.title='run'">` +
  '<svg onload=alert(1)><a href="javascript:alert(1)">x</a><iframe src="https://evil.example"></iframe><!--'
const injected = (text: string): string => `${text}${injection}`
const wide = (text: string): string => `${text} ${'wide'.repeat(200)}`

const pages: Readonly<Record<string, string>> = {
  'a diagnosis': doctor(eventful),
  'a healthy deployment': doctor(healthy),
  'a diagnosis of hostile texts': doctor(hostile),
  'a diagnosis whose texts are HTML': doctor(withTexts(eventful, injected)),
  'a diagnosis with words of any width': doctor(withTexts(eventful, wide)),
  'a scan': scanHtml({ ...scans.several, timeZone: 'Asia/Tokyo' }, 1),
  'a scan that found nothing': scanHtml(scans.nothing, 0),
  'a scan whose texts are HTML': scanHtml(withTexts(scans.several, injected), 1),
  'a scan with words of any width': scanHtml(withTexts(scans.several, wide), 1),
}
const everyPage = Object.keys(pages)

let browser: Browser
let place: Place
beforeAll(async () => {
  place = await freshPlace()
  browser = await chromium.launch({ executablePath: await browserProgram() })
  // what is fetched, once, is large
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await place?.remove()
})

/** An opened page, and what it did besides showing itself. */
interface Opened {
  page: Page
  /** Errors, refusals of the policy, and requests */
  did: string[]
}

async function opened(name: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const file = await place.write(`${everyPage.indexOf(name)}.html`, pages[name]!)
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options })
  onTestFinished(async () => context.close())
  const page = await context.newPage()
  const did: string[] = []
  page.on('console', (message) => did.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => did.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => void dialog.dismiss().finally(() => did.push('dialog')))
  page.on('request', (request) => {
    if (request.url() !== `file://${file}`) did.push(`request: ${request.url()}`)
  })
  await page.goto(`file://${file}`)
  return { page, did }
}

/** What a checker of accessibility finds wrong. */
async function violationsOn(page: Page): Promise<string[]> {
  // not a script of the page, which its policy would refuse
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 300) + ': ' + failureSummary)))`)
}

/** Elements that reach beyond the window. */
async function tooWide(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[document.documentElement, ...document.querySelectorAll('body *:not(.skip, .heard, symbol *)')]
      .filter((it) => it.scrollWidth > innerWidth || it.getBoundingClientRect().right > innerWidth + 1)
      .map((it) => it.outerHTML.slice(0, 200))`,
  )
}

/** What was copied, pasted as a person would. */
async function pasted(page: Page): Promise<string> {
  await page.evaluate(`document.body.append(document.createElement('textarea'))`)
  await page.locator('textarea').focus()
  await page.keyboard.press('Control+V')
  return page.locator('textarea').inputValue()
}

test(
  'what is wrong with a page is noticed',
  async () => {
    const { page, did } = await opened('a healthy deployment')
    await page.evaluate(`document.querySelector('main').innerHTML +=
      '<img src="https://evil.example/x"><p style="color: #eee">faint</p><div class="wide"></div><h6>far below</h6>';
      document.querySelector('.wide').append('wide'.repeat(200));
      document.querySelector('.wide').style.whiteSpace = 'nowrap';
      document.head.append(Object.assign(document.createElement('script'), { textContent: 'document.title = "run"' }))`)
    expect((await violationsOn(page)).map((it) => it.split(':')[0])).toEqual(
      expect.arrayContaining(['image-alt', 'heading-order']),
    )
    expect((await tooWide(page)).join()).toContain('class="wide"')
    expect(await page.title()).not.toBe('run')
    for (const refused of [/^error: .*image/, /^error: .*inline style/, /^error: .*inline script/])
      expect(did.filter((it) => refused.test(it))).not.toEqual([])
  },
  timeoutMs,
)

const looks = [
  ['light', 390],
  ['dark', 390],
  ['dark', 1440],
  ['light', 1440],
] as const

describe.each(everyPage)('%s', (name) => {
  test.each(spread(looks, 2, everyPage.indexOf(name) % 2))(
    'is accessible in %s at %d pixels, fits, and asks for nothing',
    async (colorScheme, width) => {
      const { page, did } = await opened(name, { colorScheme, viewport: { width, height: 900 } })
      expect(await violationsOn(page)).toEqual([])
      expect(await tooWide(page)).toEqual([])
      for (const summary of await page.locator('summary').all()) await summary.click()
      expect(await violationsOn(page)).toEqual([])
      expect(await tooWide(page)).toEqual([])
      expect(did).toEqual([])
    },
    timeoutMs,
  )

  test(
    'has no element of a text',
    async () => {
      const { page, did } = await opened(name)
      const elements = await page.evaluate(`({
        scripts: document.scripts.length,
        strange: document.querySelectorAll('img, iframe, object, embed, form, base, link, [onerror], [onload]').length,
        links: [...document.links].filter((it) => !/^#[a-z0-9-]+$/.test(it.getAttribute('href'))).length,
        dangling: [...document.links].filter((it) => document.querySelector(it.hash) === null).length,
      })`)
      expect(elements).toEqual({
        scripts: 1,
        strange: 0,
        links: 0,
        dangling: 0,
      })
      expect(await page.title()).not.toBe('run')
      expect(did).toEqual([])
    },
    timeoutMs,
  )
})

const causes = ['database/changelog-lock', 'broker/upgrade']

test(
  'is read without a script, which alone shows the buttons',
  async () => {
    const { page, did } = await opened('a diagnosis', { javaScriptEnabled: false })
    expect(await page.getByRole('button').count()).toBe(0)
    expect(await page.locator('button:visible').count()).toBe(0)
    for (const id of causes) expect(await page.getByRole('heading', { name: id }).isVisible()).toBe(true)
    for (const text of [
      'Waiting for changelog lock....',
      'testops-admin unlock-changelog -d prod',
      'revision 41 of deployment testops-testops',
      'PostgreSQL 15.4 at db.example.org:5432/testops',
      'no integration is configured',
    ])
      expect(await page.getByText(text).first().isVisible()).toBe(true)
    expect(await page.getByRole('img', { name: /^Time line: First sign: 2; Rollout: 1; / }).isVisible()).toBe(true)
    expect(did).toEqual([])
  },
  timeoutMs,
)

test(
  'is used by keyboard: past what comes before, to a button, which copies its command',
  async () => {
    const { page, did } = await opened('a diagnosis')
    const focused = async (): Promise<string> =>
      page.evaluate<string>('document.activeElement.id || document.activeElement.textContent')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the result')
    expect(await page.locator('.skip').boundingBox()).toMatchObject({ x: 16 })
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('result')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Copy')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Command copied').waitFor()
    expect(await focused()).toBe('Copied')
    expect(await pasted(page)).toBe('testops-admin unlock-changelog -d prod')
    expect(did).toEqual([])
  },
  timeoutMs,
)

test(
  'a comment behind a command is not copied with it',
  async () => {
    const { page } = await opened('a diagnosis')
    await page.getByRole('button', { name: 'Copy' }).nth(1).click()
    await page.getByRole('status').getByText('Command copied').waitFor()
    expect(await pasted(page)).toBe('testops-admin explain database/changelog-lock')
  },
  timeoutMs,
)

test(
  'lists its parts as landmarks, headings in order, and lists',
  async () => {
    const { page } = await opened('a diagnosis')
    for (const role of ['banner', 'navigation', 'main', 'contentinfo'] as const)
      expect(await page.getByRole(role).count()).toBe(1)
    const levels = await page.evaluate<number[]>(
      `[...document.querySelectorAll('h1, h2, h3, h4')].map((it) => Number(it.tagName[1]))`,
    )
    expect(levels[0]).toBe(1)
    expect(levels.filter((level, index) => index > 0 && level > levels[index - 1]! + 1)).toEqual([])
    expect(await page.getByRole('region').count()).toBe(await page.locator('section').count())
  },
  timeoutMs,
)

test(
  'hides nothing on paper, and shows no buttons there',
  async () => {
    const { page } = await opened('a diagnosis', { colorScheme: 'dark' })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const hidden = await page.evaluate(
      `[...document.querySelectorAll('main *')]
        .filter((it) => !it.checkVisibility() && !it.closest('button, summary, svg'))
        .map((it) => it.outerHTML.slice(0, 100))`,
    )
    expect(hidden).toEqual([])
    expect(await page.locator('table caption', { hasText: 'What happened' }).isVisible()).toBe(true)
    expect(await page.locator('button:visible').count()).toBe(0)
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000)
  },
  timeoutMs,
)

test(
  'is what scan-logs prints and writes',
  async () => {
    const log = await place.write('app.log', '2026-11-22 10:00:00.000  INFO 1 --- [main] a.B : HTTP FAILED: <b>x\n')
    const html = `${log}.html`
    const { exitCode, stdout, stderr } = await place.run(['scan-logs', log, '--format', 'html', '--output', html])
    expect([exitCode, stderr]).toEqual([1, ''])
    expect(await readFile(html, 'utf8')).toBe(stdout)
    const context = await browser.newContext()
    onTestFinished(async () => context.close())
    const page = await context.newPage()
    const errors: string[] = []
    page.on('console', (message) => errors.push(message.text()))
    await page.goto(`file://${html}`)
    expect(await page.getByRole('heading', { name: 'http-failed' }).isVisible()).toBe(true)
    expect(await page.getByText('HTTP FAILED: <b>x').isVisible()).toBe(true)
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(1)
    expect(errors).toEqual([])
  },
  timeoutMs,
)
