import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { Plugin } from 'vitest/config'
import { compileTexts, textsModule } from './bin/explain-texts.js'
import { compileWasm } from './bin/wasm.js'
import SlowestFirst from './test/runner/sequencer.ts'
import { randomFrom } from './test/support/random.ts'

// what tests write as configurations is trusted whatever the shell's umask; workers have it from here
process.umask(0o022)

// Go programs such as helm end before they need to free memory: garbage collection takes a third of their time. The
// limit is for those that do need to, such as the check of types
process.env['GOGC'] = 'off'
process.env['GOMEMLIMIT'] = '2GiB'

// what chance is made of in a campaign, which prints it at its end
const seed = (process.env['CAMPAIGN_SEED'] ??= new Date().toISOString().slice(0, 19))

/** Folders whose tests need real servers; all others run without any. */
const withServers = [
  'test/contracts',
  'test/adapters',
  'test/lab',
  'test/package',
  'test/end-to-end',
  'test/faults',
  'test/repairs',
]

/** Loading a command for the first time takes seconds on a busy machine. */
const unitTimeoutMs = 30_000

/**
 * Tests that must have all modules to themselves: they take the time, or all patterns, when these load, or no secret may
 * be known yet.
 */
const isolated = ['test/checks/**/*.test.ts', 'test/patterns/**/*.test.ts', 'test/core/own.test.ts']

/** Tests with servers that count what their process has open. */
const countingOwn = ['test/adapters/no-peer.test.ts', 'test/adapters/redis-{cluster,sentinel}.test.ts']

const inFolders = (folders: readonly string[]): string[] => folders.map((folder) => `${folder}/**/*.test.ts`)

/** Test files that hold that text. */
const filesWith = (text: string): string[] =>
  readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('test', name))
    .filter((file) => file.endsWith('.test.ts') && readFileSync(join(import.meta.dirname, file), 'utf8').includes(text))

/** The same as esbuild's in bin/wasm.js. */
const wasm: Plugin = {
  name: 'wasm',
  load: async (id) => (id.endsWith('.as') ? `export default Uint8Array.of(${String(await compileWasm(id))})` : null),
}

/** The same as esbuild's in bin/explain-texts.js. */
const explainTexts: Plugin = {
  name: 'explain-texts',
  load: (id) => (textsModule.test(id) ? compileTexts(id) : null),
}

export default defineConfig({
  test: {
    // tests with servers often wait: four at a time keep two cores busy for 94 % of the run
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst, seed: Math.floor(randomFrom(seed)() * 2 ** 31) },
    reporters: ['default', './test/runner/summary.ts'],
    projects: [
      {
        plugins: [wasm, explainTexts],
        test: {
          name: 'unit',
          // what one file has loaded, the next one has too: loading takes half of the time
          isolate: false,
          testTimeout: unitTimeoutMs,
          include: ['test/**/*.test.ts'],
          exclude: [...inFolders([...withServers, 'test/campaign', 'test/house']), ...isolated],
        },
      },
      {
        plugins: [wasm, explainTexts],
        test: { name: 'isolated', testTimeout: unitTimeoutMs, include: isolated },
      },
      { test: { name: 'house', include: inFolders(['test/house']) } },
      ...[
        { name: 'servers', isolate: false, include: inFolders(withServers), exclude: countingOwn },
        { name: 'servers-alone', isolate: true, include: countingOwn },
      ].map((files) => ({
        plugins: [wasm, explainTexts],
        test: {
          ...files,
          globalSetup: ['test/servers/global-setup.ts'],
          setupFiles: ['test/servers/ready.ts'],
          // a row that shares the processor with four others takes the time of all five
          maxConcurrency: 2,
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      })),
      {
        // an hour, of what takes many: `npm run campaign`
        plugins: [wasm, explainTexts],
        test: {
          name: 'campaign',
          // every row, and commands in processes of their own
          include: [
            'test/campaign/**/*.test.ts',
            ...filesWith('/support/campaign.ts'),
            'test/hostile/outputs.test.ts',
            'test/end-to-end/{usage,hostile,build-server,lint-results,scan-logs}.test.ts',
          ],
          env: { TESTOPS_ADMIN_CAMPAIGN: '1' },
          runner: './test/campaign/runner.ts',
          sequence: { shuffle: { files: false, tests: true } },
          globalSetup: ['test/servers/global-setup.ts'],
          setupFiles: ['test/servers/ready.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
