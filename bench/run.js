// `npm run bench` measures every figure of docs/performance.md, each beside what one would use instead, in one run.
// `npm run bench -- doctor` measures that one alone.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { doctor } from './doctor.js'
import { flushSessions } from './flush-sessions.js'
import { kubernetes } from './kubernetes.js'
import { lintResults } from './lint-results.js'
import { migrateTrees } from './migrate-trees.js'
import { moveMessages } from './move-messages.js'
import { oneFile } from './one-file.js'
import { resetQueues } from './reset-queues.js'
import { scanLogs } from './scan-logs.js'
import { startUp } from './start-up.js'

const measures = {
  startUp,
  oneFile,
  doctor,
  kubernetes,
  flushSessions,
  resetQueues,
  moveMessages,
  migrateTrees,
  scanLogs,
  lintResults,
}
const file = fileURLToPath(new URL('results.json', import.meta.url))
const asked = process.argv.slice(2)
const unknown = asked.find((name) => !(name in measures))
if (unknown) throw new Error(`there is no ${unknown}; there are ${Object.keys(measures).join(', ')}`)
let results = asked.length > 0 ? JSON.parse(readFileSync(file, 'utf8')) : []

for (const name of asked.length > 0 ? asked : Object.keys(measures)) {
  const rows = (await measures[name]()).map((row) => ({
    of: name,
    ...row,
    ours: Math.round(row.ours),
    theirs: Math.round(row.theirs),
    ratio: Number((row.ours / row.theirs).toFixed(2)),
  }))
  for (const { what, ours, peer, theirs, ratio, goal } of rows)
    console.log(`${what}: ${ours} ms; ${peer}: ${theirs} ms; ratio ${ratio} (goal: at most ${goal})`)
  // earlier peers may have had other names
  const place = results.findIndex((row) => row.of === name)
  const others = results.filter((row) => row.of !== name)
  results = others.toSpliced(place < 0 ? others.length : place, 0, ...rows)
  // keeps what was measured, even if the next one fails
  writeFileSync(file, JSON.stringify(results, null, 2) + '\n')
}
console.log('\nwritten to bench/results.json; `npm run docs` puts them into docs/performance.md')
process.exitCode = results.every(({ ratio, goal }) => ratio <= goal) ? 0 : 1
