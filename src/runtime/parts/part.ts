import type { Deployment } from '../../core/deployment.ts'
import type { Opened } from '../../core/endpoint.ts'
import type { Platform, RelayWish } from '../../platforms/index.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import type { CurrentSettings } from '../current-settings.ts'
import type { EndpointContext } from '../endpoints/context.ts'
import type { Environment } from '../paths.ts'

export interface OpenOptions {
  /** for each connection and each program */
  timeoutMs: number
  /** of this program: secrets are read from it */
  environment: Environment
  /** the configuration file that a flag named */
  config?: string | undefined
  signal?: AbortSignal | undefined
  /** servers that this machine does not reach are reached through the cluster */
  relay?: RelayWish | undefined
}

/** What the parts of a deployment are opened with. Each opens on first use; what failed is tried again on its next. */
export interface PartContext {
  selected: SelectedDeployment
  options: OpenOptions
  deployment: Deployment
  platform: Platform
  /** as configured; `reach` is given by `through` */
  endpoint: EndpointContext
  settings: Pick<CurrentSettings, 'watched'>
  /** what has an address: opened anew once the service's settings name another one */
  through: <T extends object>(open: (endpoint: EndpointContext) => Promise<Opened<T>>) => () => Promise<T>
  /** what has no address, and holds nothing that is closed */
  share: <T>(open: () => Promise<T>) => () => Promise<T>
}
