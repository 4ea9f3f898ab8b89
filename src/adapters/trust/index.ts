// Built as a separate file for bin/load.cjs, which needs it before the program is loaded.
export { ownCircle } from './circle.ts'
export { judgeOpened } from './judge.ts'
