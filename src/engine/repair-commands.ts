import type { Remedy } from '../core/check.ts'

const repairs =
  /^testops-admin (?:unlock-changelog|reset-queues|flush-sessions|migrate-trees|set-env|use-legacy-image|token|service (?:stop|start|restart)) (?!.*--dry-run)/

const carriesOn = /^testops-admin (?:resume|undo) (?!.*--dry-run)/

/** Whether a remedy begins with a command that carries an unfinished run on, forward or back. */
export function isByRun({ commands }: Remedy): boolean {
  return carriesOn.test(commands[0] ?? '')
}

/**
 * Whether a remedy begins with a command that changes the deployment. Those are refused while a migration or another
 * repair is under way, and while one is unfinished.
 */
export function isByRepair({ commands }: Remedy): boolean {
  return repairs.test(commands[0] ?? '')
}
