import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesControl, filesSource } from '../../../src/adapters/settings-file/index.ts'
import { makePlan } from '../../../src/engine/plan.ts'
import { planText } from '../../../src/output/plan.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { repairs } from '../../../src/repairs/index.ts'
import { openFakes } from '../../fakes/index.ts'
import { shown, shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'
import { refusable } from './refusable.ts'

const deployment = {
  name: 'values',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: null,
} as const

const anchored = `image: &image
  name: testops   # the image
  tag: "26.2.1"
other: {<<: *image, name: x}
env:
  open:
    VENDOR_A: "1"
    VENDOR_B: 'two'
list: [a, b, {c: d}]
text: |
  several
  lines
`

/** A chart's values: what is looked up in them, how they are edited, and what the repairs plan on them. */
export const values: Reader = {
  name: 'values',
  syntax: 'yaml',
  seeds: [
    anchored,
    readFileSync('test/fixtures/chart/values.yaml', 'utf8').slice(0, 3000),
    'image:\n  name: testops\n  repository: registry/x\nversion: 25.4.2\n',
    '{"image": {"name": "testops"}, "version": "1"}\n',
  ],
  async open(folder) {
    const file = join(folder, 'values.yaml')
    return {
      async read(input) {
        await writeFile(file, input)
        const files = filesSource()
        await files.look(file, ['image', 'name'])
        await files.keys(file, ['env', 'open'])
        for (const path of [
          ['image', 'name'],
          ['env', 'open', 'VENDOR_B'],
          ['new', 'key'],
          ['__proto__', 'x'],
        ]) {
          for (const to of ['testops-legacy', null]) {
            await refusable(async () => {
              const edits = await files.edits(file, [{ path, to }])
              await files.difference(file, edits)
              await filesControl().try(file, edits)
            })
          }
        }
        const open = openFakes({ files })
        for (const [repair, options] of [
          ['use-legacy-image', { values: [file], main: file, path: [], build: null, revert: false }],
          ['set-env-values', { settings: [{ name: 'VENDOR_A', to: '2' }], values: [file], main: file, path: [] }],
        ] as const) {
          await refusable(async () => {
            const plan = await makePlan(repairs[repair], open, deployment, options)
            shown(planText(plan, plainScreen))
            shownAsJson(plan)
          })
        }
      },
    }
  },
}
