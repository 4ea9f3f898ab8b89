// Compares what an operator feels first, the time until the program has answered, with a bare `node -e 0`.
import { fileURLToPath } from 'node:url'
import { inTurns, time } from './measure.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))

const rows = [
  { words: ['--version'], goal: 1.5 },
  { words: ['explain', 'database/changelog-lock'], goal: 3 },
  { words: ['checks'], goal: 3 },
  { words: ['doctor', '--help'], goal: 3 },
]

export async function startUp() {
  const runs = { node: () => time([process.execPath, '-e', '0']) }
  for (const { words } of rows) runs[words.join(' ')] = () => time([process.execPath, program, ...words])
  const medians = await inTurns(runs, 21)
  return rows.map(({ words, goal }) => ({
    what: `start-up of \`${words.join(' ')}\``,
    ours: medians[words.join(' ')],
    peer: `\`node -e 0\`, node ${process.version}`,
    theirs: medians.node,
    goal,
  }))
}
