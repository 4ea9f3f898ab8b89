import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkedOn } from './operator.ts'

/** Settings of a deployment, as in testops-admin.yaml; `secret` writes a password to a file. */
type Settings = (secret: (value: string) => { file: string }) => object

export interface Deployed extends WorkedOn {
  readonly directory: string
  /** Rewrites the configuration */
  configure(settings: Settings): Promise<void>
  remove(): Promise<void>
}

/** Configures a deployment as an operator does, in a folder of its own. */
export async function deploy(settings: Settings, name = 'prod'): Promise<Deployed> {
  const directory = await mkdtemp(join(tmpdir(), 'testops-admin-deployment-'))
  const config = join(directory, 'testops-admin.yaml')
  const configure: Deployed['configure'] = async (own) => {
    const secrets: string[] = []
    const fileOf = (index: number): string => join(directory, `secret-${index}`)
    const written = own((value) => ({ file: fileOf(secrets.push(value)) }))
    for (const [index, value] of secrets.entries()) await writeFile(fileOf(index + 1), value, { mode: 0o600 })
    // JSON is YAML
    await writeFile(config, JSON.stringify({ current: name, deployments: { [name]: written } }, null, 2), {
      mode: 0o600,
    })
  }
  await configure(settings)
  return {
    name,
    directory,
    environment: { TESTOPS_ADMIN_CONFIG: config },
    configure,
    remove: async () => rm(directory, { recursive: true, force: true }),
  }
}
