/** Real servers for the lab and the tests: found on this machine or fetched, private, and removed without a trace. */
export {
  assertData,
  brokerControl,
  fillDisk,
  freeDisk,
  removeServer,
  resumeServer,
  serverRunning,
  stopServer,
} from './lifecycle.ts'
export { readServer } from './record.ts'
export { startServer } from './start.ts'
export { serverNames } from './types.ts'
export type { RabbitmqLine, ServerKind, ServerRecord, ServerRequest, ServerWay } from './types.ts'
