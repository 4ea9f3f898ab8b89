import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import { beginCampaign, coverage } from './campaign.ts'
import type { Covered } from './campaign.ts'
import { corrected, readTimes, root, writeTimes } from './times.ts'
import type { Times } from './times.ts'

/**
 * Ends a run with one plain line, `N passed, N failed`, that people and pipelines can read, and keeps times.json right:
 * how long each file took of those that ran as a whole and passed.
 */
export default class SummaryReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const files = specifications.filter(({ project }) => project.name === 'campaign')
    if (files.length > 0) beginCampaign(files.length, process.env)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 }
    const measured: Record<string, number> = {}
    const campaign: Covered[] = []
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state)
      for (const state of states) {
        if (state === 'passed') count.passed += 1
        else if (state === 'skipped') count.skipped += 1
        else count.failed += 1
      }
      const file = relative(root, module.moduleId)
      if (isCampaign(module))
        campaign.push({ file, ran: states.filter((state) => state !== 'skipped').length, all: states.length })
      if (module.errors().length > 0) count.failed += 1
      // a worker that died has no tests
      else if (states.length > 0 && states.every((state) => state === 'passed') && !isCampaign(module))
        measured[file] = module.diagnostic().duration / 1000
    }
    count.failed += unhandledErrors.length
    keep(measured)
    // printed at the very end: other reporters write their summary on the same event
    process.once('exit', () => {
      const skipped = count.skipped === 0 ? '' : `, ${count.skipped} ${campaign.length > 0 ? 'not run' : 'skipped'}`
      if (campaign.length > 0) process.stdout.write(coverage(campaign, process.env['CAMPAIGN_SEED']!))
      process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`)
    })
  }
}

/** The same files are more there, and take longer. */
const isCampaign = (module: TestModule): boolean => module.project.name === 'campaign'

function keep(measured: Times): void {
  const known = readTimes()
  const now = corrected(known, measured)
  const existing = Object.fromEntries(Object.entries(now).filter(([file]) => existsSync(join(root, file))))
  if (JSON.stringify(existing) !== JSON.stringify(known)) writeTimes(existing)
}
