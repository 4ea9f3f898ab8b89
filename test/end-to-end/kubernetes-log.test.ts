import { expect, onTestFinished, test } from 'vitest'
import { recordedCluster } from '../kubernetes/cluster.ts'
import { kubeconfigFor } from '../kubernetes/passing-kubeconfig.ts'
import { startApiServer } from '../kubernetes/server.ts'
import { freshPlace } from './program.ts'

test.each(['chunked', 'close'])('a log that breaks off in the middle is undetermined: %s', async (how) => {
  const place = await freshPlace()
  onTestFinished(async () => place.remove())
  await place.write('testops-admin.yaml', 'deployments:\n  prod: {platform: kubernetes}\n')
  const server = await startApiServer(recordedCluster())
  onTestFinished(async () => server.close())
  server.cluster.isFrozen = true
  server.instead = (request, response) => {
    if (!/\/log\?/.test(request.url ?? '')) return false
    response.writeHead(200, {
      'content-type': 'text/plain',
      ...(how === 'close' && { connection: 'close', 'content-length': '100000' }),
    })
    response.write('2026-11-21T02:36:00.000000000Z 2026-11-21 02:36:00.000  INFO 1 --- [main] o.e.Service : begun\n')
    setTimeout(() => request.socket.destroy(), 200)
    return true
  }
  const run = async (...words: string[]): Promise<{ exitCode: number | null; stdout: string; stderr: string }> =>
    place.run(words, { environment: { KUBECONFIG: await kubeconfigFor(server.url) } })
  const scanned = await run('scan-logs', '-d', 'prod', '--json')
  expect([scanned.exitCode], scanned.stdout + scanned.stderr).toEqual([3])
  const looked = await run('doctor', '--only', 'service/log-errors', '--json')
  expect([looked.exitCode], looked.stdout + looked.stderr).toEqual([3])
})
