import { Command, Flags } from '@oclif/core'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { Screen } from '../output/screen.ts'
import { jsonText } from './json.ts'
import { screenOf } from './screen.ts'
import { print, tellLine } from './write.ts'

/** What every command shares: the flags of DESIGN.md 2 and the one way to print. Errors are left to `main`. */
export abstract class BaseCommand extends Command {
  static override baseFlags = {
    deployment: Flags.string({
      char: 'd',
      summary: 'Choose the deployment; `lab` is the practice deployment',
      helpValue: 'NAME',
      env: 'TESTOPS_ADMIN_DEPLOYMENT',
      helpGroup: 'COMMON',
    }),
    config: Flags.string({
      summary: 'Read this configuration instead of testops-admin.yaml here or in a parent folder',
      helpValue: 'FILE',
      env: 'TESTOPS_ADMIN_CONFIG',
      helpGroup: 'COMMON',
    }),
    json: Flags.boolean({
      summary: 'Print one JSON document',
      env: 'TESTOPS_ADMIN_JSON',
      helpGroup: 'COMMON',
    }),
    verbose: Flags.boolean({ summary: 'Show more', env: 'TESTOPS_ADMIN_VERBOSE', helpGroup: 'COMMON' }),
    timeout: Flags.integer({
      summary: 'Wait at most this long for any single answer (default 10)',
      helpValue: 'SECONDS',
      min: 1,
      max: 3600,
      env: 'TESTOPS_ADMIN_TIMEOUT',
      helpGroup: 'COMMON',
    }),
  }

  /**
   * Prints the result on standard output, without secrets: the document under --json, else the text that is made of it.
   */
  protected show<T extends object>(
    flags: { json: boolean },
    document: T,
    text: (document: T, screen: Screen) => string,
  ): void {
    const shown = withoutSecretsIn(document)
    print(process.stdout, flags.json ? jsonText(shown) : text(shown, screenOf(process.stdout)))
  }

  /** Says on standard error what is being done. */
  protected progress(message: string): void {
    tellLine(process.stderr, message)
  }

  protected override async catch(error: Error): Promise<never> {
    throw error
  }
}
