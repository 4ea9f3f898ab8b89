// Compares `lint-results` of 100,000 results with `cat` of the same files. Compares it also with the report tool
// (allure 3 of npm), which only reads the same directory into its store: no plugin, no report. Then measures the memory
// for a million.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurns, peakMemory, time } from './measure.js'
import { writeResults, writeTinyResults } from './result-files.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const [many, most, mostMemory] = [100_000, 1_000_000, 300]

/** Uses the report tool's classes, which take less time than its commands: each of those also makes a report. */
const reading = `
import {AllureReport, resolveConfig} from '@allurereport/core'
import {allure2} from '@allurereport/reader'
const report = new AllureReport({
  ...(await resolveConfig({output: process.argv[3], plugins: {}})),
  plugins: [],
  readers: [allure2],
})
await report.start()
await report.readDirectory(process.argv[2])
const {length} = await report.store.allTestResults({includeHidden: true})
process.exitCode = length === ${many} ? 0 : 1
`

export async function lintResults() {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const env = { ...process.env, XDG_CONFIG_HOME: folder }
  const ours = (results) => [process.execPath, program, 'lint-results', results, '--json']
  try {
    const [results, tiny, tool] = ['results', 'tiny', 'tool'].map((name) => join(folder, name))
    for (const it of [results, tiny, tool]) mkdirSync(it)
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', tool, 'allure@3'], { stdio: 'ignore' })
    const { version } = JSON.parse(readFileSync(join(tool, 'node_modules/allure/package.json'), 'utf8'))
    writeFileSync(join(tool, 'read.mjs'), reading)
    writeResults(results, many)
    const allure = [
      process.execPath,
      '--max-old-space-size=8192',
      join(tool, 'read.mjs'),
      results,
      join(tool, 'report'),
    ]

    await keepsWithin(ours(results), env, many)
    const medians = await inTurns(
      {
        ours: () => time(ours(results), { env }),
        cat: () => time(['find', results, '-type', 'f', '-exec', 'cat', '{}', '+']),
      },
      5,
    )
    const beside = await inTurns({ ours: () => time(ours(results), { env }), allure: () => time(allure, { env }) }, 3)
    rmSync(results, { recursive: true })
    writeTinyResults(tiny, most)
    await keepsWithin(ours(tiny), env, most)

    const what =
      `\`lint-results --json\` of 100,000 results of 4 KB on ${availableParallelism()} cores, in less than ` +
      `${mostMemory} MB of memory, also of 1,000,000`
    return [
      { what, ours: medians.ours, peer: '`find … -exec cat {} +` of the same files', theirs: medians.cat, goal: 2.5 },
      {
        what,
        ours: beside.ours,
        peer: `allure ${version} that reads them and makes no report`,
        theirs: beside.allure,
        goal: 0.1,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function keepsWithin(command, env, count) {
  const memory = await peakMemory(command, { env })
  console.log(`lint-results of ${count} results took at most ${memory} MB of memory`)
  if (memory > mostMemory)
    throw new Error(`lint-results of ${count} results took ${memory} MB of memory, more than ${mostMemory}`)
}
