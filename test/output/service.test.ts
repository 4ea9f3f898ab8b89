import { expect, test } from 'vitest'
import { plainScreen } from '../../src/output/paint.ts'
import { serviceExitCode, serviceText } from '../../src/output/service.ts'
import type { ServiceDocument } from '../../src/output/service.ts'
import { faultsOf } from './schemas.ts'

const up: ServiceDocument = {
  schemaVersion: 1,
  deployment: 'prod',
  platform: 'host',
  state: 'running',
  detail: 'active (running)',
  instances: [{ name: 'testops.service', host: 'app-1', pid: 812, startedAt: '2026-11-21T02:13:05.000Z' }],
  image: { name: 'testops', tag: '527u01', build: '527u01', declaredIn: 'testops-admin.yaml' },
}

test.each([
  {
    document: up,
    exitCode: 0,
    text:
      '✔ service of prod: running: active (running)\n  testops.service: on app-1, pid 812, since ' +
      '2026-11-21 02:13:05Z\n  declared: testops:527u01, build 527u01 (testops-admin.yaml)\n',
  },
  {
    document: {
      ...up,
      instances: [{ name: 'process 812', host: 'app-1', pid: 812, startedAt: null }],
      image: { ...up.image, name: null, tag: null, build: null },
    },
    exitCode: 0,
    text: '✔ service of prod: running: active (running)\n  process 812: on app-1\n',
  },
  {
    document: {
      ...up,
      state: 'failed',
      detail: 'exit status 1\u001b[2J',
      startsAgain: true,
      instances: [],
      image: { ...up.image, tag: null },
    },
    exitCode: 1,
    text:
      '✖ service of prod: failed, about to be restarted: exit status 1\\x1b[2J\n  declared: testops, build ' +
      '527u01 (testops-admin.yaml)\n',
  },
  {
    document: {
      ...up,
      platform: 'kubernetes',
      state: 'failed',
      detail: '0 of 1 replicas ready',
      instances: [],
      evidence: ['kubectl describe pod one', 'BackOff: restarting'],
    },
    exitCode: 1,
    text:
      '✖ service of prod: failed: 0 of 1 replicas ready\n  kubectl describe pod one\n  BackOff: restarting\n  ' +
      'declared: testops:527u01, build 527u01 (testops-admin.yaml)\n',
  },
] as const)('$text', ({ document, exitCode, text }) => {
  expect(faultsOf('service-status', JSON.parse(JSON.stringify(document)))).toEqual([])
  expect(serviceText(document, { ...plainScreen, columns: 120 })).toBe(text)
  expect(serviceExitCode(document)).toBe(exitCode)
})
