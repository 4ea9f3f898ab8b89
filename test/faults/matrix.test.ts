import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultRows } from '../../src/lab/fault-list.ts'
import type { LabStatusDocument } from '../../src/output/lab.ts'
import { caller } from '../lab/practice-service/support/client.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { describeRows, isOfLock, look } from './matrix.ts'
import type { Row } from './matrix.ts'

const rows = faultRows()
/** The others are in matrix-lock.test.ts, and in old-broker.test.ts, whose lab has another broker. */
const here = rows.filter((row) => row.needs.broker !== '3' && !isOfLock(row))

const lab = sharedLab()

describe('the healthy lab', () => {
  test('has nothing to report', async () => {
    const { checks } = await look(lab, { exitCode: 0, roots: [], allowedConsequences: [] })
    expect(checks.filter(({ status }) => status !== 'ok').map(({ id, status }) => `${id} ${status}`)).toEqual([
      'service/ready skipped',
      // no access log is configured: a reverse proxy stands before the service only where a fault puts one there
      'api/token-use skipped',
      'api/system-login skipped',
      'api/proxy skipped',
      'trees/migrated skipped',
    ])
  })

  test("is seen by a project's owner and by a user without a role, who may not do all", async () => {
    const migrationOf = async (name: 'owner' | 'guest', project: number): Promise<number> => {
      const { exitCode, stdout } = await lab.run('doctor', '-d', `lab-${name}`, '--only', 'api/token')
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Healthy')])
      const { document } = await lab.json<LabStatusDocument>('lab', 'status')
      const apiToken = await readFile(join(lab.root, 'secrets', `api-token-${name}`), 'utf8')
      const call = await caller(document.service!.url, { apiToken: apiToken.trim() })
      return (await call(`/api/project/${project}/test-case/tree/migration`, 'POST')).status
    }
    expect([await migrationOf('owner', 1), await migrationOf('owner', 2), await migrationOf('guest', 1)]).toEqual([
      202, 403, 403,
    ])
  })

  test('lists the matrix', async () => {
    const { document } = await lab.json<{ faults: readonly Row[] }>('lab', 'faults')
    expect(document.faults).toEqual(JSON.parse(JSON.stringify(rows)))
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  })
})

describeRows(lab, here)
