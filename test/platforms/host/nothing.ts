import type { HostSettings } from '../../../src/platforms/host/index.ts'

/** Settings of a host of which the configuration says nothing. */
export const nothing: HostSettings = {
  unit: null,
  commands: null,
  logs: null,
  environmentFile: null,
  image: null,
  build: null,
  cpuinfo: null,
  declaredIn: 'testops-admin.yaml',
}
