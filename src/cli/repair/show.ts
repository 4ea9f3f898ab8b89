import type { Performed } from '../../engine/perform.ts'
import { repairText } from '../../output/repair.ts'
import { jsonText } from '../json.ts'
import { screenOf } from '../screen.ts'

/** Prints how a repair ended, and sets the exit code. */
export function showPerformed({ document, exitCode, stack }: Performed, { json, config }: { json: boolean; config?: string | undefined }): void {
  if (stack !== undefined) process.stderr.write(`${stack}\n`)
  process.stdout.write(json ? jsonText(document) : repairText(document, screenOf(process.stdout), config))
  // set already where the output could not be written
  process.exitCode ??= exitCode
}
