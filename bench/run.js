// `npm run bench`: every figure of the README's table, each beside what one would use instead, in one run.
import {writeFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {doctor} from './doctor.js'
import {flushSessions} from './flush-sessions.js'
import {moveMessages} from './move-messages.js'
import {resetQueues} from './reset-queues.js'
import {startUp} from './start-up.js'

const results = []
for (const measure of [startUp, doctor, flushSessions, resetQueues, moveMessages]) {
  for (const row of await measure()) {
    const ratio = row.ours / row.theirs
    results.push({...row, ours: Math.round(row.ours), theirs: Math.round(row.theirs), ratio: Number(ratio.toFixed(2))})
    console.log(`${row.what}: ${row.ours.toFixed(0)} ms; ${row.peer}: ${row.theirs.toFixed(0)} ms; ratio ${ratio.toFixed(2)} (goal: at most ${row.goal})`)
  }
}
writeFileSync(fileURLToPath(new URL('results.json', import.meta.url)), JSON.stringify(results, null, 2) + '\n')
console.log('\nwritten to bench/results.json; `npm run docs` puts them into the README')
process.exitCode = results.every(({ratio, goal}) => ratio <= goal) ? 0 : 1
