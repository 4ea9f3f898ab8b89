import { expect, test } from 'vitest'
import { checksText } from '../../src/output/explain.ts'
import type { ChecksDocument } from '../../src/output/explain.ts'
import { faultsOf } from './schemas.ts'

const document: ChecksDocument = {
  schemaVersion: 1,
  checks: [
    {
      id: 'database/reachable',
      title: 'database answers',
      severities: ['error'],
      reads: ['database'],
      wants: [],
      explains: ['api/reachable'],
    },
    {
      id: 'integrations/reachable',
      title: 'hosts of integrations have addresses, wherever they are asked for, and whoever asks',
      severities: ['error', 'warning'],
      reads: ['logs', 'network'],
      wants: ['service'],
      explains: [],
    },
  ],
}

test.each([
  ['plain', { columns: 80, colour: false }],
  ['narrow', { columns: 40, colour: true }],
])('the catalogue, %s', async (name, screen) => {
  expect(faultsOf('checks', document)).toEqual([])
  await expect(checksText(document, screen)).toMatchFileSnapshot(`golden/checks-${name}.txt`)
})
