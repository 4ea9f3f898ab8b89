// `doctor --json` on Kubernetes, beside kubectl's look at the pods and the slowest check of all.
import {execFileSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {fromSources} from './bundle.js'
import {inTurns, median, time} from './measure.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const wanted = `export {parseYaml} from './src/adapters/yaml/index.ts'
  export {kubeconfigIn, testCertificate} from './test/kubernetes/kubeconfig.ts'
  export {recordedCluster} from './test/kubernetes/cluster.ts'
  export {startApiServer} from './test/kubernetes/server.ts'
  export {kubernetesTools} from './test/support/kubernetes-tools.ts'
  export {parseEnvironmentFile} from './src/platforms/host/index.ts'`

export async function kubernetes() {
  const {kubeconfigIn, testCertificate, recordedCluster, startApiServer, kubernetesTools, parseEnvironmentFile, parseYaml} = await fromSources(wanted)
  const {kubectl} = await kubernetesTools()
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const env = {...process.env, TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab'), XDG_STATE_HOME: join(folder, 'state')}
  const ours = (...words) => execFileSync(process.execPath, [program, ...words], {env, stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8'})
  ours('lab', 'up', '--json')
  const {directory} = JSON.parse(ours('lab', 'status', '--json'))
  const cluster = recordedCluster()
  runsAs(cluster, parseEnvironmentFile(readFileSync(join(directory, 'service', 'service.env'), 'utf8')))
  const server = await startApiServer(cluster, testCertificate())
  try {
    const config = join(folder, 'cluster.yaml')
    // by the settings of its pod they would be in the pod itself
    const {url, apiToken, database, broker, sessions} = parseYaml(readFileSync(join(directory, 'testops-admin.yaml'), 'utf8')).value.deployments.lab
    writeFileSync(config, JSON.stringify({deployments: {cluster: {platform: 'kubernetes', url, apiToken, database, broker, sessions}}}))
    const inCluster = {...env, KUBECONFIG: await kubeconfigIn(folder, server.url)}
    const report = join(folder, 'report.json')
    const doctor = ['sh', '-c', '"$0" "$1" doctor --config "$2" --json --fail-on error >"$3"', process.execPath, program, config, report]
    const slowest = []
    const medians = await inTurns(
      {
        doctor: async () => {
          const took = await time(doctor, {env: inCluster})
          slowest.push(slowestIn(JSON.parse(readFileSync(report, 'utf8'))))
          return took
        },
        kubectl: () => time([kubectl, 'get', 'pods', '-o', 'json'], {env: inCluster}),
      },
      11,
    )
    const peer = `kubectl ${version(kubectl)} get pods -o json, and the slowest check`
    return [{what: '`doctor --json` on Kubernetes', ours: medians.doctor, peer, theirs: medians.kubectl + median(slowest.slice(1)), goal: 3}]
  } finally {
    await server.close()
    ours('lab', 'down')
    rmSync(folder, {recursive: true, force: true})
  }
}

/** The recorded deployment has the settings of the lab's service, whose servers this machine reaches by itself. */
function runsAs(cluster, settings) {
  const [deployment] = cluster.deployments
  const [container] = deployment.spec.template.spec.containers
  container.env = [...settings].map(([name, value]) => ({name, value}))
  container.image = container.image.replace(/:[^:]*$/, ':527u01')
}

/** Milliseconds. Fails where the service was not looked at in its cluster. */
function slowestIn({platform, checks}) {
  const status = (id) => checks.find((check) => check.id === id).status
  const unjudged = ['service/running', 'database/reachable', 'broker/reachable', 'sessions/reachable'].filter((id) => status(id) !== 'ok')
  if (platform !== 'kubernetes' || unjudged.length > 0) throw new Error(`on ${platform}, ${unjudged.join(', ')} is not ok`)
  return Math.max(...checks.map(({durationMs}) => durationMs))
}

function version(kubectl) {
  return /v(\d[\d.]*)/.exec(execFileSync(kubectl, ['version', '--client'], {encoding: 'utf8'}))[1]
}
