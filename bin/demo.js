// Shows the product at work: starts a lab, breaks it in several ways, lets doctor diagnose each, and takes the lab down
// again. Exits with 0 only if every diagnosis was as expected.
import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = join(dirname(fileURLToPath(import.meta.url)), 'run.js')
const stateHome = isAbsolute(process.env.XDG_STATE_HOME ?? '')
  ? process.env.XDG_STATE_HOME
  : join(homedir(), '.local', 'state')
// a separate folder, so that an operator's lab stays unchanged; a fixed one, so that the next demo cleans up after a
// killed one
const environment = { ...process.env, TESTOPS_ADMIN_LAB_DIR: join(stateHome, 'testops-admin', 'demo') }
const paint =
  process.stdout.isTTY && !process.env.NO_COLOR ? (code, text) => `\u001b[${code}m${text}\u001b[0m` : (_, text) => text

const scenes = [
  {
    say:
      'The service is killed while it migrates its database, and started again: it waits for a lock that nobody ' +
      'holds any more.',
    faults: ['stuck-lock'],
    exitCode: 1,
    rootCauses: ['database/changelog-lock'],
  },
  {
    say: 'The same lock, but its holder is really at work: nothing is wrong, and nothing is to be unlocked.',
    faults: ['live-lock'],
    exitCode: 0,
    rootCauses: [],
  },
  {
    say: 'The broker is of a line that refuses transient queues, and the service asks for some.',
    faults: ['transient-refused'],
    exitCode: 1,
    rootCauses: ['broker/queues-durable'],
  },
  {
    say:
      'Two at once: users signed in while a clock was wrong, and an integration points to a host that has no ' +
      'address.',
    faults: ['stale-sessions', 'unknown-host'],
    exitCode: 1,
    rootCauses: ['sessions/clock', 'integrations/reachable'],
  },
  {
    say: 'The machine was moved to a host whose processor lacks what the image needs.',
    faults: ['cpu-without-v3'],
    exitCode: 1,
    rootCauses: ['service/cpu-level'],
  },
]

let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => (interrupted = true))
// the reader may stop, as `head` does: the lab is taken down anyway
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => (interrupted = true))

/** Runs the program; `quiet` captures its output, `apart` keeps the terminal's Ctrl-C from it. */
function run(words, { quiet = false, apart = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...words], {
      env: environment,
      detached: apart,
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'ignore' : 'inherit'],
    })
    let output = ''
    child.stdout?.on('data', (bytes) => (output += bytes))
    child.once('error', () => resolve({ exitCode: 70, output }))
    child.once('close', (exitCode) => resolve({ exitCode: exitCode ?? 70, output }))
  })
}

function say(text) {
  process.stdout.write(`\n${text}\n`)
}

async function type(...words) {
  say(paint(1, `$ testops-admin ${words.join(' ')}`))
  return (await run(words)).exitCode
}

/** Plays a scene. Returns what was not as expected; null if everything was. */
async function play({ say: story, faults, exitCode, rootCauses }, number) {
  say(paint(36, `--- ${number} of ${scenes.length}: ${story}`))
  if ((await type('lab', 'break', ...faults)) !== 0) return `lab break ${faults.join(' ')} failed`
  if (interrupted) return 'interrupted'
  const seen = await type('doctor', '-d', 'lab')
  if (interrupted) return 'interrupted'
  // the table is for people; the JSON document is what is judged
  const { output } = await run(['doctor', '-d', 'lab', '--json'], { quiet: true })
  const said = parse(output)
  if (seen !== exitCode || said.join() !== rootCauses.join()) {
    return (
      `doctor ended with ${seen} and named ${said.join(', ') || 'nothing'}; expected ${exitCode} and ` +
      `${rootCauses.join(', ') || 'nothing'}`
    )
  }
  if (interrupted) return 'interrupted'
  return (await type('lab', 'mend')) === 0 ? null : 'lab mend failed'
}

function parse(output) {
  try {
    return JSON.parse(output).rootCauses ?? ['no report']
  } catch {
    return ['no report']
  }
}

async function demo() {
  if ((await type('lab', 'up')) !== 0) return ['the lab did not come up']
  if (interrupted) return ['interrupted']
  say('The lab is healthy:')
  if ((await type('doctor', '-d', 'lab')) !== 0) return ['doctor found something in the healthy lab']
  const wrong = []
  for (const [index, scene] of scenes.entries()) {
    if (interrupted) break
    const difference = await play(scene, index + 1)
    if (difference) wrong.push(`${scene.faults.join(' and ')}: ${difference}`)
    // what goes wrong in one scene would show in the next
    if (difference && !interrupted) await run(['lab', 'mend'], { quiet: true })
  }
  return wrong
}

const since = Date.now()
await run(['lab', 'down'], { quiet: true, apart: true })
const wrong = await demo()
say('The lab is taken down again:')
const down = await run(['lab', 'down'], { apart: true })
if (down.exitCode !== 0) wrong.push('the lab could not be taken down')
const seconds = Math.round((Date.now() - since) / 1000)
if (interrupted) {
  say(`Interrupted after ${seconds} s.`)
  process.exitCode = 6
} else if (wrong.length > 0) {
  say(paint(31, `Not as expected:\n${wrong.map((line) => `  ${line}`).join('\n')}`))
  process.exitCode = 1
} else {
  say(
    `${scenes.length} scenes in ${seconds} s, each diagnosed as it should be. ` +
      'Try your own: testops-admin lab up; testops-admin lab faults',
  )
}
