import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line, `N passed, N failed`, that people and pipelines can read. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') count.passed += 1
        else if (state === 'skipped') count.skipped += 1
        else count.failed += 1
      }
      if (module.errors().length > 0) count.failed += 1
    }
    count.failed += unhandledErrors.length
    // printed at the very end: other reporters write their summary on the same event
    process.once('exit', () => {
      const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
      process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`)
    })
  }
}
