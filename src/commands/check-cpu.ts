import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { judgedMachines } from '../cli/cpu/machines.ts'
import { noteIgnored } from '../cli/note-ignored.ts'
import { cpuExitCode, cpuText } from '../output/cpu.ts'

export default class CheckCpu extends BaseCommand {
  static override summary = 'Check CPUs for x86-64-v3, which the image needs'
  static override description =
    "Checks the machines of the deployment's service. Without a configuration, or with --here, it checks this " +
    'machine. Every CPU of a machine counts.\n\n' +
    'On Kubernetes, node labels can only prove that x86-64-v3 is missing. --prove reads /proc/cpuinfo on each node.\n\n' +
    'Exit 0 if every CPU has x86-64-v3, 1 if one does not, 3 if that is unknown.'
  static override examples = [
    '<%= config.bin %> check-cpu -d prod',
    {
      description: 'for a machine without this program',
      command: 'ssh node-7 cat /proc/cpuinfo | <%= config.bin %> check-cpu --file -',
    },
    {
      description: 'on every node of a cluster, where labels prove nothing',
      command: '<%= config.bin %> check-cpu -d prod --prove',
    },
  ]
  static override flags = {
    here: Flags.boolean({ summary: 'Check this machine, whatever is configured' }),
    prove: Flags.boolean({
      summary: 'Read the CPU of each node, in a running pod or a short-lived one',
      exclusive: ['here', 'file'],
    }),
    file: Flags.string({
      summary: 'Read a copy of /proc/cpuinfo; - is standard input',
      helpValue: 'CPUINFO',
      multiple: true,
      default: [],
      exclusive: ['here'],
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(CheckCpu)
    if (flags.here || flags.file.length > 0) await noteIgnored(flags)
    const document = await judgedMachines(flags)
    this.show(flags, document, (document, screen) => cpuText(document, screen))
    process.exitCode ??= cpuExitCode(document)
  }
}
