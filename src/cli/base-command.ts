import { Command, Flags } from '@oclif/core'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { Screen } from '../output/paint.ts'
import { jsonText, print, tellLine, screenOf } from './write.ts'

/** A flag of every command that judges or changes something: see `quietStreams`. */
export const quietFlag = {
  quiet: Flags.boolean({
    summary: 'Print nothing if the command exits with 0',
    env: 'TESTOPS_ADMIN_QUIET',
    helpGroup: 'COMMON',
  }),
}

/**
 * True if a flag was typed: a value from the environment may be meant for other commands, so it contradicts no word.
 */
export function isTyped(raw: readonly { type: string; flag?: string }[], name: string): boolean {
  return raw.some(({ type, flag }) => type === 'flag' && flag === name)
}

/** Base class of all commands: the common flags of DESIGN.md 2 and one way to print. Leaves errors to `main`. */
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
      summary: 'Read FILE instead of testops-admin.yaml in this folder or a parent folder',
      helpValue: 'FILE',
      env: 'TESTOPS_ADMIN_CONFIG',
      helpGroup: 'COMMON',
    }),
    json: Flags.boolean({
      summary: 'Print one JSON document',
      env: 'TESTOPS_ADMIN_JSON',
      helpGroup: 'COMMON',
    }),
    'no-color': Flags.boolean({
      summary: 'Print without colours',
      env: 'NO_COLOR',
      helpGroup: 'COMMON',
    }),
    verbose: Flags.boolean({ summary: 'Show more detail', env: 'TESTOPS_ADMIN_VERBOSE', helpGroup: 'COMMON' }),
    timeout: Flags.integer({
      summary: 'Wait at most this long for each answer (default 10)',
      helpValue: 'SECONDS',
      min: 1,
      max: 3600,
      env: 'TESTOPS_ADMIN_TIMEOUT',
      helpGroup: 'COMMON',
    }),
  }

  /**
   * Prints the result on standard output, without secrets: `document` as JSON under --json, else the text that `text`
   * makes of it.
   */
  protected show<T extends object>(
    flags: { json: boolean },
    document: T,
    text: (document: T, screen: Screen) => string,
  ): void {
    const shown = withoutSecretsIn(document)
    print(process.stdout, flags.json ? jsonText(shown) : text(shown, screenOf(process.stdout)))
  }

  /** Prints a progress message on standard error. */
  protected progress(message: string): void {
    tellLine(process.stderr, message)
  }

  protected override async catch(error: Error): Promise<never> {
    throw error
  }
}
