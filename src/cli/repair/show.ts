import type { RunResult } from '../../engine/carry-out.ts'
import { stackText } from '../../output/error-text.ts'
import { repairText } from '../../output/repair.ts'
import { jsonText } from '../json.ts'
import { screenOf } from '../screen.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { print } from '../write.ts'

/** Prints how a repair ended, and sets the exit code. */
export function showPerformed(
  { document, exitCode, stack }: RunResult,
  { json, config }: { json: boolean; config?: string | undefined },
): void {
  if (stack !== undefined) print(process.stderr, stackText(stack))
  const shown = withoutSecretsIn(document)
  if (json) print(process.stdout, jsonText(shown))
  else {
    // a refusal is not a result
    const stream = shown.outcome === 'refused' ? process.stderr : process.stdout
    print(stream, repairText(shown, screenOf(stream), config))
  }
  // already set if the output could not be written
  process.exitCode ??= exitCode
}
