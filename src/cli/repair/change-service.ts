import { runRepair } from './run-repair.ts'
import { showPerformed } from './show.ts'
import { repairs } from '../../repairs/index.ts'

/** Plans, confirms and applies a change of the service itself, and prints how it ended. */
export async function changeService(
  id: 'service-stop' | 'service-start' | 'service-restart',
  flags: Parameters<typeof runRepair>[0],
  version: string,
): Promise<void> {
  const wish = { repair: repairs[id], options: {}, words: process.argv.slice(2), version }
  showPerformed(await runRepair(flags, wish), flags)
}
