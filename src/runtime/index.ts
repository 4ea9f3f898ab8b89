export { assertOwnFolder } from '../adapters/trust/folder.ts'
export type { Discovered } from './discover.ts'
export { discover } from './discover.ts'
export {
  assertNew,
  assertSecret,
  draftOf,
  findProcesses,
  judge,
  keptAnswers,
  probe,
  problemOfName,
  selectedOf,
  writeNew,
} from './init/index.ts'
export type { Draft, DraftValue, KeptAnswers, Path, Probe, ProbedPart } from './init/index.ts'
export { initScript } from '../platforms/index.ts'
export { together } from './configuration/validate.ts'
export type { Environment } from './paths.ts'
export { findConfiguration, loadConfiguration } from './configuration/load.ts'
export { findDeployment, selectDeployment } from './configuration/select.ts'
export type { SelectedDeployment } from './configuration/select.ts'
export { configuredIntegrations, examine, signIn } from './external-systems.ts'
export type { ConfiguredIntegration } from './external-systems.ts'
export { machineIn, machinesOf, thisMachine } from './machines.ts'
export type { OpenedDeployment, OpenOptions } from './open-deployment.ts'
export { openDeployment } from './open-deployment.ts'
export { composeFilesOf, openFile, placeIfThere, placeOfFile } from './open-files.ts'
export { parseHttpAddress } from './endpoints/http-address.ts'
export { configHome, labConfigurationFile, labDirectory, recordsOf, recordsOfLab, stateHome } from './paths.ts'
