import type { Command } from '@oclif/core'

/** Every command by oclif's id; each is loaded when it is asked for. */
export const commands: Readonly<Record<string, () => Promise<{ default: Command.Class }>>> = {
  apply: () => import('./apply.ts'),
  'check-cpu': () => import('./check-cpu.ts'),
  checks: () => import('./checks.ts'),
  doctor: () => import('./doctor.ts'),
  explain: () => import('./explain.ts'),
  'flush-sessions': () => import('./flush-sessions.ts'),
  history: () => import('./history.ts'),
  'lab:break': () => import('./lab/break.ts'),
  'lab:down': () => import('./lab/down.ts'),
  'lab:faults': () => import('./lab/faults.ts'),
  'lab:mend': () => import('./lab/mend.ts'),
  'lab:status': () => import('./lab/status.ts'),
  'lab:up': () => import('./lab/up.ts'),
  'migrate-trees': () => import('./migrate-trees.ts'),
  'reset-queues': () => import('./reset-queues.ts'),
  resume: () => import('./resume.ts'),
  'service:restart': () => import('./service/restart.ts'),
  'service:start': () => import('./service/start.ts'),
  'service:status': () => import('./service/status.ts'),
  'service:stop': () => import('./service/stop.ts'),
  token: () => import('./token.ts'),
  undo: () => import('./undo.ts'),
  'unlock-changelog': () => import('./unlock-changelog.ts'),
  whoami: () => import('./whoami.ts'),
}
