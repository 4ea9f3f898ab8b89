import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, onTestFinished } from 'vitest'
import { typed } from '../../src/core/typed.ts'
import { openKubernetes } from '../../src/platforms/kubernetes/index.ts'
import { releaseWorld } from '../fakes/index.ts'
import { chart, situation } from '../repairs/apply/situation.ts'
import { kubernetesTools } from '../support/kubernetes-tools.ts'
import { releaseContract } from './release.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

describe('the fake', () => {
  releaseContract(async () => {
    const world = releaseWorld({ installed: { version: '526u03' } })
    return {
      ...world,
      async upgrade(...files) {
        files.forEach((values, index) => world.files.set(`/srv/${index}.yaml`, values as Record<string, unknown>))
        return { chart, chartVersion: '5.27.2', files: files.map((_, index) => `/srv/${index}.yaml`) }
      },
      async occupy() {
        const [object, field] = [
          'deployments/testops-testops',
          '.spec.template.spec.containers[name="testops-testops"].image',
        ]
        world.conflicts.push({
          object,
          field,
          manager: 'kubectl-set',
          shown: typed(['kubectl', 'get', object, '-o', 'yaml', '--show-managed-fields']),
        })
      },
    }
  })
})

describe('the real helm', () => {
  releaseContract(async () => {
    const { environment } = await situation({ values: 'version: 526u03\n' })
    const folder = await mkdtemp(join(tmpdir(), 'testops-admin-values, of-'))
    const platform = await openKubernetes(
      { context: null, namespace: null, release: null },
      { timeoutMs: 20_000, environment },
    )
    onTestFinished(async () => {
      await platform.close()
      await rm(folder, { recursive: true, force: true })
    })
    const release = await platform.release!()
    return {
      source: release,
      control: release,
      async upgrade(...files) {
        // helm takes a comma for the end of a name
        const paths = files.map((_, index) => join(folder, `${index}.yaml`))
        await Promise.all(files.map(async (values, index) => writeFile(paths[index]!, JSON.stringify(values))))
        return { chart, chartVersion: '5.27.2', files: paths }
      },
      async occupy() {
        const { kubectl } = await kubernetesTools()
        await promisify(execFile)(
          kubectl,
          ['-n', 'testops', 'set', 'image', 'deployment/testops-testops', 'testops-testops=r/testops/testops:other'],
          { env: { ...process.env, ...environment, HOME: folder } },
        )
      },
    }
  })
})
