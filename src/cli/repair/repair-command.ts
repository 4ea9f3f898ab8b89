import { withoutSecretsIn } from '../../core/redaction/document.ts'
import type { RunResult } from '../../engine/carry-out.ts'
import { stackText } from '../../output/error-text.ts'
import { repairText } from '../../output/repair.ts'
import { repairs } from '../../repairs/index.ts'
import { BaseCommand } from '../base-command.ts'
import { screenOf, jsonText, print } from '../write.ts'
import type { RepairFlags } from './flags.ts'
import { runRepair } from './run-repair.ts'

/** How a repair ended, and how its end is to be printed. */
export interface Repaired {
  /** null: there was nothing to resume or undo */
  result: RunResult | null
  flags: { json: boolean; config?: string | undefined }
}

/** A command that carries out a repair, alone or as a part of `doctor --fix`, which gives it words of its own. */
export abstract class RepairCommand extends BaseCommand {
  /** Words after the program's name, as typed */
  words: readonly string[] = process.argv.slice(2)
  /** Ids of problems that `doctor --fix` has other repairs for */
  others: readonly string[] = []
  /** Carries out the repair; `doctor` puts something else in its place, which only asks for rights */
  perform: typeof runRepair = async (flags, wish) => runRepair({ ...flags, others: this.others }, wish)

  /**
   * Plans, confirms and applies. Prints the plan and the progress, not the end. Throws AdminError before there is a
   * plan.
   */
  abstract repair(): Promise<Repaired>

  override async run(): Promise<void> {
    const { result, flags } = await this.repair()
    if (result) showPerformed(result, flags)
    else this.nothing(flags)
  }

  /** Prints that there is nothing to resume or undo */
  protected nothing(_flags: Repaired['flags']): void {}
}

/** Prints how a repair ended, and sets the exit code. */
export function showPerformed(result: RunResult, { json, config }: Repaired['flags']): void {
  if (json) {
    tellStack(result)
    print(process.stdout, jsonText(withoutSecretsIn(result.document)))
  } else printEnd(result, config)
  // already set if the output could not be written
  process.exitCode ??= result.exitCode
}

/** Prints how a repair ended, for people. `config` is the file that a flag named. */
export function printEnd(result: RunResult, config: string | undefined): void {
  tellStack(result)
  const shown = withoutSecretsIn(result.document)
  // a refusal is not a result
  const stream = shown.outcome === 'refused' ? process.stderr : process.stdout
  print(stream, repairText(shown, screenOf(stream), config))
}

/** Prints where a bug of this program occurred. */
export function tellStack({ stack }: Pick<RunResult, 'stack'>): void {
  if (stack !== undefined) print(process.stderr, stackText(stack))
}

/** Plans, confirms and applies a change of the service itself. */
export async function changeService(
  id: 'service-stop' | 'service-start' | 'service-restart',
  flags: RepairFlags,
  command: Pick<RepairCommand, 'words' | 'perform' | 'config'>,
): Promise<Repaired> {
  const {
    words,
    config: { version },
  } = command
  return { result: await command.perform(flags, { repair: repairs[id], options: {}, words, version }), flags }
}
