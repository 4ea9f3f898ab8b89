// `doctor --json` on a cluster in which nothing is configured and every server is behind a port-forward, beside
// kubectl's look at the pods.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { labCluster, program } from './cluster.js'
import { inTurns, peakMemory, time } from './measure.js'

/** long beside all else that a run does, so that what is left of the difference is the waiting */
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

/** The same where the cluster is large. */
async function large() {
  const cluster = await labCluster({ fill: fillUp })
  try {
    const { doctor, kubectl, command, cwd } = runsOn(cluster)
    const megabytes = await peakMemory(command, { env: cluster.env, cwd })
    if (megabytes > most.megabytes) throw new Error(`doctor took ${megabytes} MB of memory`)
    const medians = await inTurns({ doctor, kubectl }, 5)
    const what = `the same with 2,000 pods, 500 Secrets and 10,000 events in the namespace and 1,000 nodes, in less than ${most.megabytes} MB of memory`
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
 * How often a run waits for the API server before it asks the next, by how much later it ends where each answer is
 * late.
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

/** Fails where the service was not looked at in its cluster. */
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
