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
  "If the host's processor has x86-64-v3, give it to the virtual machine: in Proxmox and QEMU `cpu: host` or `x86-64-v3`, in VMware a newer EVC level. Then power the machine off and on."
