import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const defaultMinutes = 60

/**
 * Begins a campaign of these files, which ends after an hour (`CAMPAIGN_MINUTES`): workers have it from the
 * environment. Throws on minutes that are no number.
 */
export function beginCampaign(files: number, environment: NodeJS.ProcessEnv): void {
  const minutes = Number(environment['CAMPAIGN_MINUTES'] ?? defaultMinutes)
  if (!(minutes > 0)) throw new Error('CAMPAIGN_MINUTES must be a number of minutes')
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-campaign-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const begun = join(folder, 'begun')
  writeFileSync(begun, '')
  Object.assign(environment, {
    CAMPAIGN_END: String(Date.now() + minutes * 60_000),
    CAMPAIGN_FILES: String(files),
    CAMPAIGN_BEGUN: begun,
  })
}

/**
 * Returns until when (ms since 1970) the next file of a campaign may begin tests: what the files before it have left is
 * shared by those that are to come.
 */
export function shareOf(environment: NodeJS.ProcessEnv, now = Date.now()): number {
  const { CAMPAIGN_END, CAMPAIGN_FILES, CAMPAIGN_BEGUN } = environment
  if (CAMPAIGN_END === undefined || CAMPAIGN_FILES === undefined || CAMPAIGN_BEGUN === undefined)
    throw new Error('the campaign has not been begun (test/runner/summary.ts)')
  appendFileSync(CAMPAIGN_BEGUN, '.')
  const left = Number(CAMPAIGN_FILES) - readFileSync(CAMPAIGN_BEGUN, 'utf8').length + 1
  return now + (Number(CAMPAIGN_END) - now) / Math.max(1, left)
}

/** What a campaign ran of a file. */
export interface Covered {
  file: string
  ran: number
  all: number
}

/** Says what was covered: each file of which something was left, the whole, and how to see the same again. */
export function coverage(files: readonly Covered[], seed: string): string {
  const sum = (key: 'ran' | 'all'): number => files.reduce((total, it) => total + it[key], 0)
  const partly = files.filter(({ ran, all }) => ran < all)
  return [
    ...partly.map(({ file, ran, all }) => `  ${String(ran).padStart(5)} of ${String(all).padStart(5)}  ${file}`),
    `The campaign covered ${sum('ran')} of ${sum('all')} tests, and all tests of ` +
      `${files.length - partly.length} of ${files.length} files.`,
    `The order is by chance: another campaign runs others, CAMPAIGN_SEED=${seed} the same.`,
    '',
  ].join('\n')
}
