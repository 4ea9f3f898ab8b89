import type { Deployment } from '../../core/deployment.ts'
import type { Opened } from '../../core/endpoint.ts'
import type { Platform, RelayWish } from '../../platforms/index.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import type { CurrentSettings, EndpointContext } from '../endpoints/context.ts'
import type { Environment } from '../paths.ts'

export interface OpenOptions {
  /** Milliseconds for each connection and each program */
  timeoutMs: number
  /** Environment of this program, from which secrets are read */
  environment: Environment
  /** The configuration file that a flag named */
  config?: string | undefined
  signal?: AbortSignal | undefined
  /** Reaches servers through the cluster if this machine does not reach them */
  relay?: RelayWish | undefined
}

/** What the parts of a deployment are opened with. Each opens on first use; a failed one is tried again on its next. */
export interface PartContext {
  selected: SelectedDeployment
  options: OpenOptions
  deployment: Deployment
  platform: Platform
  /** As configured; `through` adds `reach` */
  endpoint: EndpointContext
  settings: Pick<CurrentSettings, 'watched'>
  /** Opens a part with an address, and again once the service's settings name another one */
  through: <T extends object>(open: (endpoint: EndpointContext) => Promise<Opened<T>>) => () => Promise<T>
  /** Opens a part without an address, which holds nothing to close */
  share: <T>(open: () => Promise<T>) => () => Promise<T>
}
