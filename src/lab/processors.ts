import type { Processor } from './changes.ts'

const common =
  'fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx rdtscp lm constant_tsc rep_good nopl'
const v2 = `${common} pni pclmulqdq ssse3 cx16 sse4_1 sse4_2 x2apic popcnt aes hypervisor lahf_lm`

const models: Readonly<Record<Processor, { name: string; flags: string }>> = {
  'x86-64-v3': {
    name: 'Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz',
    flags: `${v2} fma movbe xsave avx f16c rdrand abm bmi1 avx2 bmi2 erms`,
  },
  // the same processor as a virtual machine of type x86-64-v2-AES sees it (FIELD-NOTES.md 5)
  'x86-64-v2': { name: 'QEMU Virtual CPU version 2.5+', flags: v2 },
}

/** A /proc/cpuinfo with two such processors, so that the lab is the same on every machine. */
export function cpuinfoText(processor: Processor): string {
  const { name, flags } = models[processor]
  const one = (number: number): string =>
    [`processor\t: ${number}`, 'vendor_id\t: GenuineIntel', `model name\t: ${name}`, 'flags\t\t: ' + flags].join('\n')
  return `${one(0)}\n\n${one(1)}\n\n`
}
