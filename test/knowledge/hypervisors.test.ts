import { expect, test } from 'vitest'
import { hypervisorNamed } from '../../src/knowledge/processors.ts'

test.each([
  [['Standard PC (Q35 + ICH9, 2009)\n', 'QEMU\n'], 'QEMU'],
  [['KVM', 'Red Hat'], 'KVM'],
  [['VMware Virtual Platform', 'VMware, Inc.'], 'VMware'],
  [['Virtual Machine', 'Microsoft Corporation'], 'Hyper-V'],
  [['Surface Laptop', 'Microsoft Corporation'], null],
  [['m5.large', 'Amazon EC2'], 'Amazon EC2'],
  [['Google Compute Engine', 'Google'], 'Google Compute Engine'],
  [['ThinkPad', 'LENOVO', ''], null],
  [[], null],
])('%j', (strings, name) => {
  expect(hypervisorNamed(strings)).toBe(name)
})
