#!/usr/bin/env node
// Makes the pictures of the documents, of pages that the program writes, in the browser that the tests use. Names of
// pictures choose some; `--to FOLDER` writes them elsewhere.
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { fromSources } from '../bench/bundle.js'

/** Bytes of a picture beyond which a document loads slowly */
const mostBytes = 200_000

const { browserProgram, doctorHtml, scanHtml, reports, scans } = await fromSources(`
  export { browserProgram } from './test/support/browser.ts'
  export { doctorHtml } from './src/output/doctor/html.ts'
  export { scanHtml } from './src/output/scan/html.ts'
  export * as reports from './test/output/reports.ts'
  export * as scans from './test/output/scan/documents.ts'`)
const doctor = doctorHtml(reports.eventful, { exitCode: 1, areWarningsFailures: true })
const scan = scanHtml(scans.several, 1)
const wide = { width: 1100, height: 1700 }
const narrow = { width: 390, height: 844 }

const pictures = {
  'doctor-page': { page: doctor, viewport: wide },
  'doctor-time-line': { page: doctor, viewport: wide, part: 'figure' },
  'doctor-page-phone': { page: doctor, viewport: narrow, colorScheme: 'dark' },
  'scan-page': { page: scan, viewport: { ...wide, height: 1300 } },
}

const words = process.argv.slice(2)
const elsewhere = words.indexOf('--to')
const [folder] =
  elsewhere < 0 ? [fileURLToPath(new URL('../docs/pictures/', import.meta.url))] : words.splice(elsewhere, 2).slice(1)
const unknown = words.find((name) => !(name in pictures))
if (unknown !== undefined) throw new Error(`no picture ${unknown}: there are ${Object.keys(pictures).join(', ')}`)

mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath: await browserProgram() })
try {
  for (const [name, { page: text, viewport, part, colorScheme = 'light' }] of Object.entries(pictures)) {
    if (words.length > 0 && !words.includes(name)) continue
    const path = join(folder, `${name}.png`)
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.setContent(text)
    await (part === undefined ? page : page.locator(part)).screenshot({ path })
    await context.close()
    const { size } = statSync(path)
    if (size > mostBytes) {
      rmSync(path)
      throw new Error(`${name}.png has ${size} bytes, more than ${mostBytes}`)
    }
    console.log(`${path}: ${Math.round(size / 1000)} kB`)
  }
} finally {
  await browser.close()
}
