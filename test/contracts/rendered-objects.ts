import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import { expect } from 'vitest'
import type { Place } from '../end-to-end/program.ts'

/** Name and path of files as hostile as a configuration takes them. */
export const hostileFolder = 'odd %h $HOME "q" \'s\' `x`'

const configuration = `deployments:
  Prod_1.x:
    platform: kubernetes
    kubernetes: {context: test, namespace: testops}
    apiToken: {env: TESTOPS_TOKEN}
    broker: {url: "amqp://testops@mq.example.org", ca: ca.pem, password: {kubernetesSecret: mq/password}}
    ignore: [{check: api/token-lifetime, reason: "a: 'b' \\"c\\" # {{ d }} \${{ e }}", until: 2027-01-31}]
  box:
    platform: host
    host: {unit: testops, environmentFile: "${hostileFolder.replaceAll('"', '\\"')}/env"}
    apiToken: {env: TESTOPS_TOKEN}
    database: {url: "postgresql://t@db.example.org/t", password: {file: "${hostileFolder.replaceAll('"', '\\"')}/pass"}}
`

/** Writes two deployments whose names, paths and texts are hostile: `Prod_1.x` on a cluster, and `box`. */
export async function writeHostile(place: Place): Promise<void> {
  await place.write('testops-admin.yaml', configuration)
  await place.write('ca.pem', await readFile(join(import.meta.dirname, '../fixtures/tls/authority.pem'), 'utf8'))
}

/** Returns what `init --template` prints with these words. */
export async function rendered(place: Place, ...words: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await place.run(['init', '--template', ...words])
  expect([exitCode, stderr]).toEqual([0, ''])
  return stdout
}

/** Renders every object for a cluster, in the folder `objects` of the place. */
export async function renderedObjects(place: Place): Promise<unknown[]> {
  const image = ['--image', 'registry.example.org/testops-admin:1']
  await rendered(place, 'cronjob', '-d', 'Prod_1.x', ...image, '--output', 'objects')
  await rendered(place, 'roles', '-d', 'Prod_1.x', '--output', 'objects')
  const folder = join(place.directory, 'objects')
  const texts = await Promise.all((await readdir(folder)).sort().map((file) => readFile(join(folder, file), 'utf8')))
  return texts.flatMap((text) => loadAll(text))
}

/** Objects that Kubernetes' own code has taken, one a line. Written by the campaign with `-u`. */
export const takenFile = join(import.meta.dirname, '../fixtures/templates/taken.json')

/** The text of `takenFile` for these. */
export const takenText = (objects: readonly unknown[]): string =>
  `[\n${objects.map((it) => JSON.stringify(it)).join(',\n')}\n]\n`
