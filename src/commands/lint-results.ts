import { Args, Flags } from '@oclif/core'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { formats, lintPrinted } from '../cli/lint/print.ts'
import { runLint } from '../cli/lint/run-lint.ts'
import { noteIgnored, screenOf, write } from '../cli/write.ts'

export default class LintResults extends BaseCommand {
  static override summary = 'Check test results before upload'
  static override description =
    'Checks the `*-result.json` files and attachments of each directory, then all directories together. Finds ' +
    'results that will be missing, truncated, merged or not linked to a test case after the upload, and tests that ' +
    'will stay queued. For each problem, shows where it is, what the service will do, and how to fix the tests. ' +
    'Changes nothing. With --fix, writes a corrected copy.\n\n' +
    'Exit 0 if nothing is wrong, 1 for an error, 2 for warnings only, 3 if something could not be read, 6 if ' +
    'interrupted, 64 for wrong usage or settings.'
  static override examples = [
    { description: 'Check the results after the tests', command: '<%= config.bin %> lint-results build/results' },
    {
      description: 'In a pipeline, allow at most 5 warnings',
      command: '<%= config.bin %> lint-results build/results --ci --max-warnings 5',
    },
    {
      description: 'Compare with the previous run, to find values that change from run to run',
      command: '<%= config.bin %> lint-results build/results --previous last/results',
    },
    {
      description: 'Write a corrected copy',
      command: '<%= config.bin %> lint-results build/results --fix --output build/mended',
    },
  ]
  static override strict = false
  static override args = { dir: Args.string({ description: 'results directories', ignoreStdin: true }) }
  static override flags = {
    previous: Flags.string({ summary: 'Compare with the results of an earlier run', helpValue: 'DIR' }),
    'agent-log': Flags.string({
      summary: 'Read FILE, the log of the agent that uploads results, and check its file counts; repeatable',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    rule: Flags.string({
      summary: 'Set a rule to off, warning or error; repeatable',
      helpValue: 'ID=LEVEL',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ci: Flags.boolean({
      summary: 'Print one plain line per problem. Exit 1 for any warning, unless a flag or setting allows warnings',
    }),
    'max-warnings': Flags.integer({ summary: 'Exit 1 if there are more than N warnings', helpValue: 'N', min: 0 }),
    format: Flags.option({
      options: formats,
      summary: 'Choose the output format; `json` is the same as --json',
      default: 'table',
    })(),
    'fail-on': Flags.option({
      options: ['warning', 'error', 'unknown'] as const,
      summary:
        'Choose the exit codes: `warning` = 1 for errors, 2 for warnings, 3 if something could not be read; ' +
        '`error` = 1 for errors, otherwise 0; `unknown` = as `warning`, but 1 instead of 3',
      default: 'warning',
    })(),
    fix: Flags.boolean({ summary: 'Write a corrected copy to the --output directory, and check the copy' }),
    output: Flags.string({
      summary: 'Write the corrected copy to DIR, which must be new or empty',
      helpValue: 'DIR',
    }),
    settings: Flags.string({
      summary: 'Read settings from FILE instead of .testops-lint.yaml; `none`: use no settings file',
      helpValue: 'FILE',
    }),
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags, argv } = await this.parse(LintResults)
    await noteIgnored(flags)
    const { format, ci, verbose } = flags
    const linted = await runLint(argv.map(String), flags)
    await write(
      process.stdout,
      lintPrinted(
        linted,
        { format: flags.json ? 'json' : format, ci, verbose, version: this.config.version },
        screenOf(process.stdout),
      ),
    )
    process.exitCode ??= linted.exitCode
  }
}
