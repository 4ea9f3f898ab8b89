// Compares `doctor --json` on a cluster, with nothing configured and every server behind a port-forward, with kubectl's
// list of pods.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { labCluster, program } from './cluster.js'
import { inTurns, peakMemory, time } from './measure.js'

/** Milliseconds that each answer is late: so long that the rest of a run hardly counts. */
const delayMs = 200
const most = { megabytes: 200 }

export async function kubernetes() {
  const cluster = await labCluster()
  try {
    const { doctor, kubectl } = runsOn(cluster)
    const medians = await inTurns({ doctor, kubectl }, 11)
    const roundTrips = await roundTripsOf(cluster, doctor, medians.doctor)
    const what = '`doctor --json` on Kubernetes over TLS, with nothing configured and all servers behind port-forwards'
    const detail = `${roundTrips} answers of the API server one after the other`
    return [
      {
        what,
        detail,
        ours: medians.doctor,
        peer: `kubectl ${version(cluster.kubectl)} get pods -A`,
        theirs: medians.kubectl,
        goal: 3,
      },
      await large(),
    ]
  } finally {
    await cluster.close()
  }
}

/** Measures the same on a large cluster. Throws if doctor takes too much memory. */
async function large() {
  const cluster = await labCluster({ fill: fillUp })
  try {
    const { doctor, kubectl, command, cwd } = runsOn(cluster)
    const megabytes = await peakMemory(command, { env: cluster.env, cwd })
    if (megabytes > most.megabytes) throw new Error(`doctor took ${megabytes} MB of memory`)
    const medians = await inTurns({ doctor, kubectl }, 5)
    const what =
      'the same with 2,000 pods, 500 Secrets and 10,000 events in the namespace and 1,000 nodes, in less than ' +
      `${most.megabytes} MB of memory`
    return {
      what,
      ours: medians.doctor,
      peer: `kubectl ${version(cluster.kubectl)} get pods -A`,
      theirs: medians.kubectl,
      goal: 3,
    }
  } finally {
    await cluster.close()
  }
}

function runsOn({ env, folder, kubectl }) {
  const cwd = join(folder, 'here')
  mkdirSync(cwd, { recursive: true })
  const report = join(folder, 'report.json')
  const command = [process.execPath, program, 'doctor', '--json', '--fail-on', 'error']
  return {
    command,
    cwd,
    doctor: async () => {
      const took = await time(['sh', '-c', 'exec "$@" >"$0"', report, ...command], { env, cwd })
      assertWhole(JSON.parse(readFileSync(report, 'utf8')))
      return took
    },
    kubectl: () => time([kubectl, 'get', 'pods', '-A'], { env, cwd }),
  }
}

/**
 * Returns how many answers of the API server a run waits for, one after another. It follows from how much later the run
 * ends if each answer is late.
 */
async function roundTripsOf(cluster, doctor, atOnce) {
  cluster.delay(delayMs)
  try {
    const medians = await inTurns({ doctor }, 3)
    return Math.round((medians.doctor - atOnce) / delayMs)
  } finally {
    cluster.delay(0)
  }
}

/** Throws if doctor did not check the service in its cluster. */
function assertWhole({ platform, checks }) {
  const status = (id) => checks.find((check) => check.id === id).status
  const unjudged = [
    'service/running',
    'database/reachable',
    'broker/reachable',
    'sessions/reachable',
    'api/reachable',
  ].filter((id) => status(id) !== 'ok')
  if (platform !== 'kubernetes' || unjudged.length > 0)
    throw new Error(`on ${platform}, ${unjudged.join(', ')} is not ok`)
}

function fillUp(cluster) {
  const namespace = 'testops'
  const [pod] = cluster.pods
  const [node] = cluster.list('nodes')
  const labels = { app: 'other' }
  const now = new Date().toISOString()
  const warning = {
    type: 'Warning',
    reason: 'BackOff',
    message: 'Back-off restarting failed container',
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    source: { component: 'kubelet' },
  }
  for (let at = 0; at < 2000; at += 1)
    cluster.load('pods', { ...pod, metadata: { ...pod.metadata, name: `other-${at}`, labels, ownerReferences: [] } })
  for (let at = 0; at < 1000; at += 1)
    cluster.load('nodes', { ...node, metadata: { ...node.metadata, name: `node-${at}` } })
  for (let at = 0; at < 10_000; at += 1)
    cluster.load('events', {
      ...warning,
      metadata: { namespace, name: `event-${at}` },
      involvedObject: { kind: 'Pod', namespace, name: `other-${at % 2000}` },
    })
  for (let at = 0; at < 500; at += 1)
    cluster.load('secrets', {
      metadata: { namespace, name: `secret-${at}` },
      type: 'Opaque',
      data: { key: 'dmFsdWU=' },
    })
}

function version(kubectl) {
  return /v(\d[\d.]*)/.exec(execFileSync(kubectl, ['version', '--client'], { encoding: 'utf8' }))[1]
}
