/**
 * Levels of the x86-64 psABI by the names that Linux gives the flags in /proc/cpuinfo (FIELD-NOTES.md 5):
 * `pni` is SSE3, `abm` is LZCNT, `cx16` is CMPXCHG16B, and `xsave` stands for OSXSAVE, which has no flag of its own.
 */
const levels = [
  { name: 'x86-64', flags: ['cmov', 'cx8', 'fpu', 'fxsr', 'mmx', 'syscall', 'sse', 'sse2', 'lm'] },
  { name: 'x86-64-v2', flags: ['cx16', 'lahf_lm', 'popcnt', 'pni', 'ssse3', 'sse4_1', 'sse4_2'] },
  { name: 'x86-64-v3', flags: ['avx', 'avx2', 'bmi1', 'bmi2', 'f16c', 'fma', 'abm', 'movbe', 'xsave'] },
  { name: 'x86-64-v4', flags: ['avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'] },
] as const

type CpuLevel = (typeof levels)[number]['name']

/** Flag of the processor of a virtual machine (FIELD-NOTES.md 5). */
const hypervisorFlag = 'hypervisor'

type Processors = readonly (readonly string[])[]

/**
 * Returns the flags of every processor in a cpuinfo file, equal lists once. Empty if the file shows none (another
 * architecture), or is cut short: a part of the flags would suggest that others are missing.
 */
export function parseCpuinfo(text: string): string[][] {
  if (isCutShort(text)) return []
  // a machine may have hundreds of processors, and nearly all say the same
  const lines = new Set(Array.from(text.matchAll(/^flags[ \t]*:(.*)$/gm), ([, value]) => value!))
  const flags = [...lines].map((line) => line.split(/\s+/).filter(Boolean))
  return [...new Map(flags.map((own) => [own.join(' '), own])).values()]
}

const flagsLine = /^flags[ \t]*:/m
const anyFlag = /^flags[ \t]*:.*\S/m

/** The line that ends each processor on x86 (arch/x86/kernel/cpu/proc.c). */
const lastLine = /^power management[ \t]*:/m

/** True if a cpuinfo file ends too early, or lacks the flags of a processor. */
export function isCutShort(text: string): boolean {
  const [head = '', ...processors] = text.split(/^processor[ \t]*:/m)
  if (!flagsLine.test(text)) return processors.length > 0 && otherArchitecture(text) === null
  // the output of `grep flags` names no processor
  const blocks = flagsLine.test(head) ? [head, ...processors] : processors
  const last = blocks.at(-1)!
  if (blocks.some((it) => !anyFlag.test(it))) return true
  if (lastLine.test(blocks[0]!) && !lastLine.test(last)) return true
  return !text.endsWith('\n') && !lastLine.test(text.slice(text.lastIndexOf('\n') + 1))
}

/** Signs that each architecture except x86 writes into a cpuinfo file, with its name in `uname -m`. */
const otherArchitectures: readonly (readonly [RegExp, string])[] = [
  [/^CPU implementer[ \t]*:/m, 'aarch64'],
  [/^vendor_id[ \t]*:[ \t]*IBM\/S390/m, 's390x'],
  [/^cpu[ \t]*:[ \t]*POWER/m, 'ppc64le'],
  [/^isa[ \t]*:[ \t]*rv/m, 'riscv64'],
  [/^CPU Family[ \t]*:[ \t]*Loongson/m, 'loongarch64'],
]

function otherArchitecture(text: string): string | null {
  return otherArchitectures.find(([sign]) => sign.test(text))?.[1] ?? null
}

/** Returns the architecture of a cpuinfo file; null if the file does not show it, or is no such file. */
export function architectureIn(text: string): string | null {
  const processors = parseCpuinfo(text)
  if (processors.length > 0) return processors.some((flags) => flags.includes('lm')) ? 'x86_64' : 'i686'
  return otherArchitecture(text)
}

/** Returns the flags that some processor lacks for a level, including those of lower levels. */
export function missingFlags(processors: Processors, level: CpuLevel): string[] {
  const upTo = levels.findIndex(({ name }) => name === level)
  const wanted = levels.slice(0, upTo + 1).flatMap(({ flags }) => flags as readonly string[])
  return wanted.filter((flag) => processors.some((flags) => !flags.includes(flag)))
}

/** Returns the highest level that every processor has; null if they have none, or none is known. */
export function cpuLevel(processors: Processors): CpuLevel | null {
  if (processors.length === 0) return null
  const reached = levels.filter(({ name }) => missingFlags(processors, name).length === 0)
  return reached.at(-1)?.name ?? null
}

/** True if the machine is a virtual one, whose processor is a setting of its host. */
export function isVirtual(processors: Processors): boolean {
  return processors.some((flags) => flags.includes(hypervisorFlag))
}

/**
 * Beginnings of what the firmware of a virtual machine says of its maker, with the hypervisor's name, as in
 * systemd-detect-virt (systemd, src/basic/virt.c). These strings are in /sys/class/dmi/id.
 */
const makers: readonly (readonly [begins: string, name: string])[] = [
  ['KVM', 'KVM'],
  ['OpenStack', 'KVM'],
  ['KubeVirt', 'KVM'],
  ['Amazon EC2', 'Amazon EC2'],
  ['QEMU', 'QEMU'],
  ['VMware', 'VMware'],
  ['VMW', 'VMware'],
  ['innotek GmbH', 'VirtualBox'],
  ['VirtualBox', 'VirtualBox'],
  ['Oracle Corporation', 'VirtualBox'],
  ['Xen', 'Xen'],
  ['Bochs', 'Bochs'],
  ['Parallels', 'Parallels'],
  ['BHYVE', 'bhyve'],
  ['Hyper-V', 'Hyper-V'],
  ['Google Compute Engine', 'Google Compute Engine'],
]

/** Files in which Linux shows these strings, in the order in which systemd-detect-virt reads them. */
export const firmwareFiles = ['product_name', 'sys_vendor', 'board_vendor', 'bios_vendor', 'product_version'].map(
  (name) => `/sys/class/dmi/id/${name}`,
)

/** Returns the hypervisor by the firmware's strings (product, maker, board, BIOS); null if none is known. */
export function hypervisorNamed(strings: readonly string[]): string | null {
  const isHyperV =
    strings.some((it) => it.startsWith('Microsoft Corporation')) &&
    strings.some((it) => it.startsWith('Virtual Machine'))
  if (isHyperV) return 'Hyper-V'
  for (const [begins, name] of makers) if (strings.some((it) => it.trim().startsWith(begins))) return name
  return null
}

/**
 * Says where the type of a virtual machine's processor is set (FIELD-NOTES.md 5). QEMU and VMware need a power-off,
 * because a reboot within the guest keeps the processor.
 */
export const hypervisorAdvice =
  "If the host's processor supports x86-64-v3, let the virtual machine use it. In Proxmox or QEMU, set `cpu: " +
  'host` or `x86-64-v3`. In VMware, set a newer EVC level. Then power the virtual machine off and on.'

/** Prefix of the labels in which node-feature-discovery lists a node's processor features (FIELD-NOTES.md 5). */
const prefix = 'feature.node.kubernetes.io/cpu-cpuid.'

/**
 * The flags of x86-64-v3 that are labelled by default, with their names in /proc/cpuinfo; the others are on its block
 * list.
 */
const labelled = { AVX: 'avx', AVX2: 'avx2', FMA3: 'fma', MOVBE: 'movbe' } as const

/**
 * Returns the flags of x86-64-v3 that a node lacks by its labels; null if no label describes the processor. Labels can
 * only disprove the level: most flags are never labelled, and a labelled one may be switched off. Without such flags,
 * the level is likely.
 */
export function toldByLabels(
  labels: Readonly<Record<string, string>>,
): { lacks: readonly string[]; by: string } | null {
  if (!Object.keys(labels).some((name) => name.startsWith(prefix))) return null
  const lacks = Object.entries(labelled).filter(([label]) => labels[`${prefix}${label}`] !== 'true')
  return { lacks: lacks.map(([, flag]) => flag), by: `labels ${prefix}*` }
}
