import { Args, Flags } from '@oclif/core'
import { BaseCommand, isTyped, quietFlag } from '../cli/base-command.ts'
import { scanAs, scanFormats } from '../cli/scan/run-scan.ts'
import { AdminError } from '../core/error.ts'
import { typed } from '../core/typed.ts'

export default class ScanLogs extends BaseCommand {
  static override summary = 'Find known faults in logs'
  static override description =
    "Reads the deployment's log: all containers and their previous runs, the systemd journal, or the log file with " +
    'its rotated files. With FILE, reads the named files instead: plain, gzip or zstd. ' +
    'The name - means standard input. ' +
    'Shows how often each fault occurred, when it first and last occurred, and what to do. Changes nothing.\n\n' +
    'Exit 0 if no fault is found, 1 for a problem, 2 for warnings only, 3 if something could not be read, 6 if ' +
    'interrupted, 64 for wrong usage.'
  static override examples = [
    {
      description: "Read the last two hours of a deployment's log",
      command: '<%= config.bin %> scan-logs -d prod --since 2h',
    },
    {
      description: 'Read a log and its rotated files, in any order',
      command: '<%= config.bin %> scan-logs app.log app.log.1 app.log.2.gz',
    },
    {
      description: 'Read the output of another program',
      command: 'kubectl logs deployment/testops-testops | <%= config.bin %> scan-logs -',
    },
    {
      description: 'Write a page with a time line for a ticket',
      command: '<%= config.bin %> scan-logs -d prod --since 1d --output log.html',
    },
    {
      description: 'Also read new lines, until Ctrl-C',
      command: '<%= config.bin %> scan-logs -d prod --since 5m --follow',
    },
  ]
  static override strict = false
  static override args = { file: Args.string({ description: 'log files, - for standard input', ignoreStdin: true }) }
  static override flags = {
    since: Flags.string({
      summary:
        'Skip log records before this time: 2h (2 hours ago), 30m, 3d, 2026-11-22, or 2026-11-22T10:30 with or ' +
        'without an offset',
      helpValue: 'TIME',
    }),
    until: Flags.string({ summary: 'Skip log records at or after this time', helpValue: 'TIME' }),
    'time-zone': Flags.string({
      summary:
        "Assume this time zone for times without an offset; default: the deployment's zone or, if that is unknown, " +
        "UTC for containers and this machine's zone for other logs",
      helpValue: 'ZONE',
    }),
    format: Flags.option({
      options: scanFormats,
      summary: 'Choose the output format; `json` is the same as --json',
      default: 'table',
    })(),
    output: Flags.string({
      summary: 'Also write the result to FILE, in the format of its ending: .html, .json or .txt',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    follow: Flags.boolean({ summary: 'Follow the log until Ctrl-C', char: 'f' }),
    'fail-on': Flags.option({
      options: ['warning', 'error', 'unknown'] as const,
      summary:
        'Choose the exit codes: `warning` = 1 for errors, 2 for warnings, 3 if something could not be read; ' +
        '`error` = 1 for errors, otherwise 0; `unknown` = as `warning`, but 1 instead of 3',
      default: 'warning',
    })(),
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags, argv, raw } = await this.parse(ScanLogs)
    if (argv.length > 0 && isTyped(raw, 'deployment')) throw either(argv.map(String), flags.deployment!)
    const exitCode = await scanAs(argv.map(String), flags)
    process.exitCode ??= exitCode
  }
}

function either(files: readonly string[], deployment: string): AdminError {
  return new AdminError('USAGE', 'name files or a deployment, not both', [
    typed(['testops-admin', 'scan-logs', ...files]),
    typed(['testops-admin', 'scan-logs', '-d', deployment]),
  ])
}
