import { expect, test } from 'vitest'
import { cpuExitCode, cpuText } from '../../src/output/cpu.ts'
import type { JudgedMachine } from '../../src/output/cpu.ts'
import { plainScreen } from '../../src/output/paint.ts'

const fit: JudgedMachine = { name: 'node-1', level: 'x86-64-v4', missing: [], hypervisor: null, verdict: 'has-v3' }
const short: JudgedMachine = {
  name: 'node-2',
  level: 'x86-64-v2',
  missing: ['avx', 'avx2'],
  hypervisor: 'QEMU',
  verdict: 'lacks-v3',
}
const other: JudgedMachine = {
  name: 'node-3',
  level: 'aarch64',
  missing: [],
  hypervisor: null,
  verdict: 'other-architecture',
}
const dark: JudgedMachine = { name: 'node-4', level: 'unknown', missing: [], hypervisor: null, verdict: 'unknown' }

function shown(...machines: JudgedMachine[]): string {
  return cpuText({ schemaVersion: 1, machines }, plainScreen)
}

test('a line for each machine, then what to do', () => {
  expect(shown(fit, short, other, dark)).toBe(`✔ node-1: x86-64-v4
✖ node-2: x86-64-v2, without avx, avx2; a virtual machine (QEMU)
? node-3: aarch64: x86-64 levels do not apply
? node-4: processor unknown

Since build 526u03, image testops needs a processor with x86-64-v3.

If the host's processor supports x86-64-v3, let the virtual machine use it. In
Proxmox or QEMU, set \`cpu: host\` or \`x86-64-v3\`. In VMware, set a newer EVC
level. Then power the virtual machine off and on.

On processors without x86-64-v3, use image testops-legacy, available since build
527u01: testops-admin explain service/cpu-level
`)
})

test('each reason why a processor could not be read has a line of its own', () => {
  const reason =
    'user tester may not create pods/exec `testops-5dvgm` in namespace `testops` of the cluster of context ' +
    '`test`\na pod would have to be made there'
  expect(shown({ ...dark, reason }, fit)).toBe(`? node-4: processor unknown
    - user tester may not create pods/exec \`testops-5dvgm\` in namespace
      \`testops\` of the cluster of context \`test\`
    - a pod would have to be made there
✔ node-1: x86-64-v4
`)
})

test('a machine of metal is not told of hypervisors', () => {
  expect(shown({ ...short, hypervisor: null })).not.toContain('Proxmox')
})

test('where nothing is wrong, nothing is advised', () => {
  expect(shown(fit)).toBe('✔ node-1: x86-64-v4\n')
})

test.each([
  { machines: [fit], code: 0 },
  { machines: [fit, other], code: 3 },
  { machines: [dark], code: 3 },
  { machines: [other, short, fit], code: 1 },
])('ends with $code', ({ machines, code }) => {
  expect(cpuExitCode({ schemaVersion: 1, machines })).toBe(code)
})
