// Compares `migrate-trees` of 10,000 trees of the lab with `xargs -P 8 curl`, with as many calls at a time.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inTurns, median, time } from './measure.js'
import { newest } from './newest.js'
import { seedLabTrees } from './seed-trees.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const trees = Number(process.env.BENCH_TREES ?? 10_000)
const projects = 20
const atOnce = 8
const samplesPreload = new URL('heap-samples.js', import.meta.url).href
/**
 * Maximum growth of the heap from the third quarter of a run to the last, in bytes for each tree in between. What V8
 * still learns takes some 15 bytes, a record of two numbers for each tree 80. V8 learns most in the first half.
 */
const mostGrowth = 40
/** Minimum number of samples; a shorter run shows only its beginning. */
const leastSamples = 120

export async function migrateTrees() {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const root = join(folder, 'lab')
  const env = { ...process.env, TESTOPS_ADMIN_LAB_DIR: root, XDG_STATE_HOME: join(folder, 'state') }
  const lab = (...words) =>
    execFileSync(process.execPath, [program, 'lab', ...words], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    })
  try {
    lab('up')
    const { controlPort } = JSON.parse(readFileSync(join(root, 'lab.json'), 'utf8'))
    const { service } = JSON.parse(lab('status', '--json'))
    const token = readFileSync(join(root, 'secrets', 'api-token'), 'utf8').trim()
    const items = itemsOf(await seedLabTrees(root, { projects, trees }))
    writeFileSync(join(folder, 'trees.txt'), items.map(({ project, tree }) => `${project}/${tree}`).join('\n'))
    writeFileSync(
      join(folder, 'addresses.txt'),
      items
        .map(({ project, tree }) => `${service.url}/api/project/${project}/test-case/tree/${tree}/migration`)
        .join('\n'),
    )
    const curl = await newest('curl')
    const ours = () => migrated(folder, env, controlPort)
    await assertFlat(folder, env, controlPort)
    await idle(service.url, token)
    const theirs = () =>
      time(['sh', '-c', runbook], {
        env: {
          ...env,
          BASE: service.url,
          TOKEN: token,
          FOLDER: folder,
          AT_ONCE: String(atOnce),
          CURL: curl.words.join(' '),
        },
      })
    /** Runs, then waits until the service has finished all its work, so that the next run begins at rest. */
    const rested = (run) => async () => {
      const took = await run()
      await idle(service.url, token)
      return took
    }
    const medians = await inTurns({ ours: rested(ours), theirs: rested(theirs) }, 3)
    console.log(
      `load ${loadavg()
        .map((load) => load.toFixed(1))
        .join(' ')}`,
    )
    const what = `\`migrate-trees\` of ${trees.toLocaleString('en')} trees, ${atOnce} calls at a time`
    return [
      {
        what,
        ours: medians.ours,
        peer: `\`xargs -P ${atOnce} curl\`, curl ${curl.version}`,
        theirs: medians.theirs,
        goal: 0.5,
      },
    ]
  } finally {
    try {
      lab('down')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Exchanges a token once, then runs one curl for each tree. Neither token is an argument. */
const runbook = `
umask 077
printf %s "$TOKEN" | $CURL -fsS -F grant_type=apitoken -F scope=openid -F 'token=<-' "$BASE/api/uaa/oauth/token" |
  sed 's/.*"access_token":"\\([^"]*\\)".*/header = "Authorization: Bearer \\1"/' >"$FOLDER/bearer"
xargs -P "$AT_ONCE" -n 1 $CURL -fsS -o /dev/null -X POST -K "$FOLDER/bearer" <"$FOLDER/addresses.txt"
`

/** Runs `migrate-trees`; returns milliseconds. Throws unless it took every tree and exchanged exactly one token. */
async function migrated(folder, env, controlPort, preload = []) {
  await control(controlPort, [{ method: 'POST', path: '/api/uaa/oauth/token' }])
  const started = performance.now()
  const words = [
    'migrate-trees',
    '-d',
    'lab',
    '--from-file',
    join(folder, 'trees.txt'),
    '--concurrency',
    String(atOnce),
    '--confirm',
    'lab',
    '--json',
  ]
  const child = spawn(process.execPath, [...preload, program, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  const took = performance.now() - started
  const { accepted, failed } = JSON.parse(said)
  if (accepted !== trees)
    throw new Error(`${accepted} trees were accepted, ${JSON.stringify(failed?.slice(0, 3))} failed`)
  const [exchanges] = await control(controlPort)
  if (exchanges !== 1) throw new Error(`${exchanges} tokens were exchanged`)
  return took
}

/** Checks memory in a separate run, since sampling takes time. Throws if memory grew, or on too few samples to tell. */
async function assertFlat(folder, env, controlPort) {
  const file = join(folder, 'heap-samples')
  await migrated(folder, { ...env, BENCH_HEAP_SAMPLES: file }, controlPort, ['--import', samplesPreload])
  const samples = readFileSync(file, 'utf8').trim().split('\n').map(Number)
  if (samples.length < leastSamples)
    throw new Error(
      `memory was looked at ${samples.length} times only, which tells nothing: take more trees (BENCH_TREES)`,
    )
  const quarter = Math.floor(samples.length / 4)
  const [before, after] = [median(samples.slice(2 * quarter, 3 * quarter)), median(samples.slice(3 * quarter))]
  const growth = (after - before) / (trees / 4)
  const shown =
    `${(before / 1e6).toFixed(2)} MB in the third quarter, ${(after / 1e6).toFixed(2)} MB in the last, ` +
    `${growth.toFixed(0)} bytes a tree`
  console.log(`heap: ${shown}, ${samples.length} samples`)
  if (growth > mostGrowth) throw new Error(`memory grows: ${shown}; at most ${mostGrowth}`)
}

/** Calls the lab's control port: sets a plan of answers, or without one returns how often each was given. */
async function control(port, plan) {
  const answer = await fetch(
    `http://127.0.0.1:${port}/answers`,
    plan ? { method: 'POST', body: JSON.stringify(plan) } : {},
  )
  if (!answer.ok) throw new Error(`the practice service refused an order of the lab: ${await answer.text()}`)
  return answer.json()
}

async function idle(url, token) {
  const body = new FormData()
  for (const [name, value] of Object.entries({ grant_type: 'apitoken', scope: 'openid', token }))
    body.append(name, value)
  const { access_token: bearer } = await (await fetch(`${url}/api/uaa/oauth/token`, { method: 'POST', body })).json()
  for (;;) {
    const { content } = await (
      await fetch(`${url}/api/migration/job?status=IN_PROGRESS&size=1`, {
        headers: { authorization: `Bearer ${bearer}` },
      })
    ).json()
    if (content.length === 0) return
    await sleep(500)
  }
}

/** Lists the trees with their projects, as `seedTrees` spreads them. */
function itemsOf({ projects: of, trees: all }) {
  const count = of.to - of.from + 1
  return Array.from({ length: all.to - all.from + 1 }, (_, index) => ({
    project: of.from + (index % count),
    tree: all.from + index,
  }))
}
