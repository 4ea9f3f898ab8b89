import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { formats, lintPrinted } from '../cli/lint/print.ts'
import { runLint } from '../cli/lint/run-lint.ts'
import { noteIgnored } from '../cli/note-ignored.ts'
import { screenOf } from '../cli/screen.ts'
import { write } from '../cli/write.ts'

export default class LintResults extends BaseCommand {
  static override summary = 'Check test results before upload'
  static override description =
    'Checks the `*-result.json` files of each directory with their attachments, and all directories together. Finds ' +
    'results that will be unlinked, missing, cut or merged, and tests that will stay queued. Shows the ' +
    'place, what the service will do, and how to fix it in the code of the tests. Changes nothing; --fix writes a corrected copy.\n\n' +
    'Exit 0 if nothing is wrong, 1 for an error, 2 for warnings only, 3 if something could not be read, 6 if ' +
    'interrupted, 64 for wrong usage or settings.'
  static override examples = [
    { description: 'by hand, after the tests', command: '<%= config.bin %> lint-results build/results' },
    {
      description: 'in a pipeline, where no more than 5 warnings are allowed',
      command: '<%= config.bin %> lint-results build/results --ci --max-warnings 5',
    },
    {
      description: 'compared with the previous run, for values that change from run to run',
      command: '<%= config.bin %> lint-results build/results --previous last/results',
    },
    {
      description: 'a copy with attachments where they belong and texts that are not cut',
      command: '<%= config.bin %> lint-results build/results --fix --output build/mended',
    },
  ]
  static override strict = false
  static override args = { dir: Args.string({ description: 'results directories', ignoreStdin: true }) }
  static override flags = {
    previous: Flags.string({ summary: 'Compare with the results of an earlier run', helpValue: 'DIR' }),
    'agent-log': Flags.string({
      summary: 'Read what the uploading agent counted; repeatable',
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
    ci: Flags.boolean({ summary: 'Print one plain line per problem, and allow no warnings by default' }),
    'max-warnings': Flags.integer({ summary: 'Exit 1 if there are more than N warnings', helpValue: 'N', min: 0 }),
    format: Flags.option({
      options: formats,
      summary: 'Choose the output format; `json` is the same as --json',
      default: 'table',
    })(),
    'fail-on': Flags.option({
      options: ['warning', 'error', 'unknown'] as const,
      summary: '`error`: exit 0 instead of 2 and 3; `unknown`: exit 1 instead of 3',
      default: 'warning',
    })(),
    fix: Flags.boolean({ summary: 'Write a corrected copy to the directory in --output, and check the copy' }),
    output: Flags.string({ summary: 'Write the corrected copy here; must be empty or missing', helpValue: 'DIR' }),
    settings: Flags.string({
      summary: 'Read settings from this file instead of .testops-lint.yaml; `none` reads none',
      helpValue: 'FILE',
    }),
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
