export { inputsIn, inputsOf } from './named-files.ts'
export type { Inputs } from './named-files.ts'
export type { ScannedCause, ScanResult } from './run.ts'
export { startScan } from './run.ts'
