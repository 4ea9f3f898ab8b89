export { levels } from './schema.ts'
export type { Level } from './schema.ts'
export { lintSettings } from './settings.ts'
export type { LintSettings } from './settings.ts'
