import { expect, test } from 'vitest'
import { initExitCode, initText } from '../../src/output/init.ts'
import type { InitDocument } from '../../src/output/init.ts'
import { faultsOf } from './schemas.ts'

const error = {
  code: 'UNREACHABLE',
  message: 'PostgreSQL at db.example.org:5432/testops cannot be reached: the host name db.example.org does not resolve',
  suggestions: [],
}
const document: InitDocument = {
  schemaVersion: 1,
  file: '/etc/testops-admin.yaml',
  deployment: 'prod',
  platform: 'host',
  found: 'systemd unit `testops.service`',
  connections: [
    { part: 'service', status: 'ok', target: 'host: active (running), process 812' },
    { part: 'database', status: 'failed', error },
    {
      part: 'api',
      status: 'absent',
      error: {
        code: 'NOT_CONFIGURED',
        message: 'no address of the API is configured for `prod`: set `url`',
        suggestions: [],
      },
    },
  ],
}

test('how each part answered, and what was written', () => {
  expect(faultsOf('init', document)).toEqual([])
  expect(initText(document, { columns: 80, colour: false })).toMatchInlineSnapshot(`
    "ok         service   host: active (running), process 812
    failed     database  PostgreSQL at db.example.org:5432/testops cannot be
                         reached: the host name db.example.org does not resolve
    unknown    api       no address of the API is configured for \`prod\`: set \`url\`

    Wrote /etc/testops-admin.yaml
    Next: testops-admin doctor -d prod
    "
  `)
})

test('a part that is known and does not answer ends with 3', () => {
  expect(initExitCode(document)).toBe(3)
  expect(
    initExitCode({ ...document, connections: document.connections.filter(({ status }) => status !== 'failed') }),
  ).toBe(0)
})
