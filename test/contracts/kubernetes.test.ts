import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { afterAll, describe } from 'vitest'
import { localPrograms } from '../kubernetes/exec.ts'
import { kubeconfigIn } from '../kubernetes/kubeconfig.ts'
import { startApiServer } from '../kubernetes/server.ts'
import type { ApiServer } from '../kubernetes/server.ts'
import { kubernetesContract } from './kubernetes.ts'

// a cluster that is given is a real one: its own kubeconfig is all that differs
const given = env['TEST_KUBECONFIG']

describe('Kubernetes', () => {
  let own: ApiServer | null = null
  let folder: string | null = null
  // hooks run in the reverse of their order: the contract's own comes first
  afterAll(async () => {
    await own?.close()
    if (folder !== null) await rm(folder, { recursive: true })
  })
  kubernetesContract(async () => {
    if (given !== undefined) return given
    own = await startApiServer()
    own.cluster.hooks.exec = localPrograms('cat')
    folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
    return kubeconfigIn(folder, own.url)
  })
})
