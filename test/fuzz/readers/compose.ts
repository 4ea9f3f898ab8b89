import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesSource } from '../../../src/adapters/settings-file/index.ts'
import { makePlan } from '../../../src/engine/plan.ts'
import { planText } from '../../../src/output/plan.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { placeOf } from '../../../src/platforms/compose/place.ts'
import { projectOfFile } from '../../../src/platforms/compose/project.ts'
import { repairs } from '../../../src/repairs/index.ts'
import { readFile } from 'node:fs/promises'
import { openFakes } from '../../fakes/index.ts'
import { shown, shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'
import { refusable } from './refusable.ts'

const deployment = {
  name: 'compose',
  platform: 'compose',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: null,
} as const

const small = `include:
  - other.yml
  - path: [other.yml]
    project_directory: .
    env_file: .env
x-base: &base
  image: registry/testops:\${TAG:-25.4.2}
services:
  testops:
    <<: *base
    environment:
      VENDOR_A: "1"
      VENDOR_B: \${B}
    env_file: [.env]
  second:
    extends: {file: other.yml, service: base}
  third:
    extends: testops
    environment: [VENDOR_A=1, VENDOR_C]
`
const other = `services:
  base:
    image: registry/testops:25.4.2
    extends: {file: compose.yml, service: testops}
`

/** A compose file, with what it includes and extends. */
export const compose: Reader = {
  name: 'compose',
  syntax: 'yaml',
  seeds: [
    small,
    readFileSync('test/fixtures/compose/docker-compose.yml', 'utf8'),
    'services:\n  testops:\n    image: testops:1\n',
    '{"services": {"testops": {"image": "testops:1"}}}',
  ],
  async open(folder) {
    const file = join(folder, 'compose.yml')
    await writeFile(join(folder, 'other.yml'), other)
    await writeFile(join(folder, '.env'), 'TAG=25.4.2\nB=two\n')
    return {
      async read(input) {
        await writeFile(file, input)
        const files = filesSource()
        await refusable(async () => files.included(file))
        await refusable(async () => files.extended(file, 'second'))
        await files.look(file, ['services', 'testops', 'image'])
        for (const options of [
          { compose: file, main: file, service: 'testops', build: null, revert: false },
          { compose: file, main: file, service: null, build: '26.1.1', revert: true },
        ]) {
          await refusable(async () => {
            const plan = await makePlan(repairs['use-legacy-image'], openFakes({ files }), deployment, options)
            shown(planText(plan, plainScreen))
            shownAsJson(plan)
          })
        }
        for (const [service, name, from] of [
          ['testops', 'VENDOR_A', '1'],
          ['testops', 'VENDOR_B', 'two'],
          ['third', 'VENDOR_N', null],
        ] as const) {
          await refusable(async () =>
            placeOf({
              change: { name, from, to: 'changed' },
              service,
              project: projectOfFile(file),
              environment: {},
              read: async (path) => ({ path, bytes: await readFile(path).catch(() => null) }),
            }),
          )
        }
      },
    }
  },
}
