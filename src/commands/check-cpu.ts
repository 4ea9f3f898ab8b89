import { Flags } from '@oclif/core'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { judgedMachines } from '../cli/cpu/machines.ts'
import { noteIgnored } from '../cli/write.ts'
import { cpuExitCode, cpuText } from '../output/cpu.ts'

export default class CheckCpu extends BaseCommand {
  static override summary = 'Check CPUs for x86-64-v3, which the image needs'
  static override description =
    "Checks the machines that run the deployment's service. Without a configuration, or with --here, it checks this " +
    'machine. It checks every CPU of a machine.\n\n' +
    'On Kubernetes, node labels can only prove that x86-64-v3 is missing, not that a node has it. To be sure, use ' +
    '--prove, which reads /proc/cpuinfo on each node.\n\n' +
    'Exit 0 if every CPU supports x86-64-v3, 1 if one does not, 3 if that is unknown.'
  static override examples = [
    '<%= config.bin %> check-cpu -d prod',
    {
      description: 'Check a machine that does not have testops-admin',
      command: 'ssh node-7 cat /proc/cpuinfo | <%= config.bin %> check-cpu --file -',
    },
    {
      description: 'Read the CPU flags of every node in a cluster',
      command: '<%= config.bin %> check-cpu -d prod --prove',
    },
  ]
  static override flags = {
    here: Flags.boolean({ summary: 'Check this machine, and ignore the configuration' }),
    prove: Flags.boolean({
      summary: 'Read the CPU flags of each node, in a running pod or a short-lived one',
      exclusive: ['here', 'file'],
    }),
    file: Flags.string({
      summary: 'Read a copy of /proc/cpuinfo; - is standard input',
      helpValue: 'CPUINFO',
      multiple: true,
      default: [],
      exclusive: ['here'],
    }),
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(CheckCpu)
    if (flags.here || flags.file.length > 0) await noteIgnored(flags)
    const document = await judgedMachines(flags)
    this.show(flags, document, (document, screen) => cpuText(document, screen))
    process.exitCode ??= cpuExitCode(document)
  }
}
