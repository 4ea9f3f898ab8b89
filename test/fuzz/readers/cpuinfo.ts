import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { judgedMachines } from '../../../src/cli/cpu/machines.ts'
import { cpuExitCode, cpuText } from '../../../src/output/cpu.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { shown, shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'

const flags =
  'fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat fxsr mmx sse sse2 ht syscall nx lm pni ' +
  'ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt xsave avx f16c lahf_lm abm bmi1 avx2 bmi2 hypervisor'
const processor = (number: number): string =>
  `processor\t: ${number}\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: ` +
  `${flags}\nbugs\t\t:\n\n`

/** What /proc/cpuinfo shows, as `check-cpu --file` takes it. */
export const cpuinfo: Reader = {
  name: 'cpuinfo',
  syntax: 'lines',
  seeds: [
    processor(0) + processor(1),
    'processor\t: 0\nCPU implementer\t: 0x41\nFeatures\t: fp asimd\n',
    'vendor_id       : IBM/S390\n',
    'isa\t: rv64imafdc\n',
  ],
  async open(folder) {
    const file = join(folder, 'cpuinfo')
    return {
      async read(input) {
        await writeFile(file, input)
        const document = await judgedMachines({ here: false, file: [file] })
        shown(cpuText(document, plainScreen))
        cpuExitCode(document)
        shownAsJson(document)
      },
    }
  },
}
