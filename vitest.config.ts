import { defineConfig } from 'vitest/config'
import type { Plugin } from 'vitest/config'
import { compileTexts, textsModule } from './bin/explain-texts.js'
import { compileWat } from './bin/wat.js'
import SlowestFirst from './test/runner/sequencer.ts'

// what tests write as configurations is trusted whatever the shell's umask; workers have it from here
process.umask(0o022)

/** Folders whose tests need real servers; all others run without any. */
const withServers = ['test/contracts', 'test/adapters', 'test/lab', 'test/end-to-end', 'test/faults', 'test/repairs']

/** The same as esbuild's in bin/wat.js. */
const wat: Plugin = {
  name: 'wat',
  load: async (id) => (id.endsWith('.wat') ? `export default Uint8Array.of(${String(await compileWat(id))})` : null),
}

/** The same as esbuild's in bin/explain-texts.js. */
const explainTexts: Plugin = {
  name: 'explain-texts',
  load: (id) => (textsModule.test(id) ? compileTexts(id) : null),
}

export default defineConfig({
  test: {
    // tests with servers mostly wait, so three at a time fit on two cores
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', './test/runner/summary.ts'],
    projects: [
      {
        plugins: [wat, explainTexts],
        test: {
          name: 'unit',
          // loading a command for the first time takes seconds on a busy machine
          testTimeout: 30_000,
          include: ['test/**/*.test.ts'],
          exclude: [...withServers, 'test/campaign', 'test/house'].map((folder) => `${folder}/**`),
        },
      },
      { test: { name: 'house', include: ['test/house/**/*.test.ts'] } },
      {
        plugins: [wat, explainTexts],
        test: {
          name: 'servers',
          include: withServers.map((folder) => `${folder}/**/*.test.ts`),
          globalSetup: ['test/servers/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      },
      {
        // some hours, by chance: `npm run campaign`
        plugins: [wat, explainTexts],
        test: {
          name: 'campaign',
          // every instant in every way
          include: [
            'test/campaign/**/*.test.ts',
            'test/repairs/**/{killed,broken,faults,back-and-forth,messages,everything,fields}*.test.ts',
            'test/repairs/foreign/*.test.ts',
            'test/adapters/**/kill.test.ts',
            'test/patterns/*.test.ts',
            'test/core/redaction/growth.test.ts',
          ],
          env: { TESTOPS_ADMIN_CAMPAIGN: '1' },
          globalSetup: ['test/servers/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
