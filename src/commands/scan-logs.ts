import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { runScan } from '../cli/scan/run-scan.ts'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'
import { scanText } from '../output/scan/text.ts'

export default class ScanLogs extends BaseCommand {
  static override summary = 'Find known faults in logs'
  static override description =
    "Reads the deployment's log: all containers and their previous runs, the journal, or the log file with its " +
    'rotated files. Or reads FILEs, which may be gzip or zstd, or standard input. Shows how often each fault occurs, ' +
    'when first and last, and what to do. Changes nothing.\n\n' +
    'Exit 0 if nothing is found, 1 for a problem, 2 for warnings only, 3 if something could not be read, 6 if ' +
    'interrupted, 64 for wrong usage.'
  static override examples = [
    {
      description: 'the log of a deployment, of the last two hours',
      command: '<%= config.bin %> scan-logs -d prod --since 2h',
    },
    {
      description: 'files of one log, in any order',
      command: '<%= config.bin %> scan-logs app.log app.log.1 app.log.2.gz',
    },
    {
      description: 'what another program prints',
      command: 'kubectl logs deployment/testops-testops | <%= config.bin %> scan-logs -',
    },
    {
      description: 'also new lines, until Ctrl-C',
      command: '<%= config.bin %> scan-logs -d prod --since 5m --follow',
    },
  ]
  static override strict = false
  static override args = { file: Args.string({ description: 'log files, - for standard input', ignoreStdin: true }) }
  static override flags = {
    since: Flags.string({
      summary: 'Skip records before: 2h, 30m, 3d, 2026-11-22, or 2026-11-22T10:30 with or without an offset',
      helpValue: 'TIME',
    }),
    until: Flags.string({ summary: 'Skip records from this time on', helpValue: 'TIME' }),
    'time-zone': Flags.string({
      summary: "Read times without an offset in this zone; default: the deployment's, or this machine's",
      helpValue: 'ZONE',
    }),
    follow: Flags.boolean({ summary: 'Follow the log until Ctrl-C', char: 'f' }),
    'fail-on': Flags.option({
      options: ['warning', 'error', 'unknown'] as const,
      summary: '`error`: exit 0 instead of 2 and 3; `unknown`: exit 1 instead of 3',
      default: 'warning',
    })(),
  }

  override async run(): Promise<void> {
    const { flags, argv, raw } = await this.parse(ScanLogs)
    // a deployment from the environment may be meant for other commands
    if (argv.length > 0 && raw.some((it) => it.type === 'flag' && it.flag === 'deployment'))
      throw either(argv.map(String), flags.deployment!)
    const { document, exitCode } = await runScan(argv.map(String), flags)
    this.show(flags, document, (document, screen) => scanText(document, { screen, exitCode }))
    process.exitCode ??= exitCode
  }
}

function either(files: readonly string[], deployment: string): AdminError {
  return new AdminError('USAGE', 'name files or a deployment, not both', [
    typed(['testops-admin', 'scan-logs', ...files]),
    typed(['testops-admin', 'scan-logs', '-d', deployment]),
  ])
}
