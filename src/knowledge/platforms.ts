import type { PlatformName } from '../core/deployment.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** What a platform can, and how its parts are dealt with (SPEC.md parts 1 and 2; docs/platforms). */
export interface PlatformTraits {
  /** the service is processes of one machine: they have its host name and its clock, and its units start them */
  sharesMachine: boolean
  /** the host name of a process is that of its instance, which the platform shows */
  namesInstances: boolean
  /** the service's settings, its image and how it is started are named in our configuration */
  isConfigured: boolean
  /** a network of its own: a name may resolve there and not here */
  hasOwnNetwork: boolean
  /** a connection can be relayed through it */
  relays: boolean
  /** `check-cpu --prove` reads processors there */
  provesProcessors: boolean
  /** secrets are kept apart from the other settings, by somebody else */
  keepsSecretsElsewhere: boolean
  /** a changed setting rolls the service out at once, and the next deployment of the chart reverts it */
  rollsOut: boolean
  /** it has a name for what runs the service, which distinguishes two deployments */
  namesWorkloads: boolean
  /**
   * how the service comes to run another image: `apply`: this program changes it where it runs; `values`: the file of
   * values is edited; `by-hand`
   */
  image: 'apply' | 'values' | 'by-hand'
  /** what is done where no instance of a server is there, a sentence or two */
  withoutInstances: string
  /** how declared settings are applied; null: by a restart */
  applying: { text: string; commands: readonly Suggestion[] } | null
  /** how another place of the same kind is chosen, and which there are */
  choosing: readonly Suggestion[]
}

const withoutContainer = 'Find out what happened to its container, and recreate it with compose.'

const platforms: Readonly<Record<PlatformName, PlatformTraits>> = {
  host: {
    sharesMachine: true,
    namesInstances: false,
    isConfigured: true,
    hasOwnNetwork: false,
    relays: false,
    provesProcessors: false,
    keepsSecretsElsewhere: false,
    rollsOut: false,
    namesWorkloads: false,
    image: 'by-hand',
    withoutInstances: withoutContainer,
    applying: null,
    choosing: [],
  },
  compose: {
    sharesMachine: false,
    namesInstances: false,
    isConfigured: false,
    hasOwnNetwork: false,
    relays: false,
    provesProcessors: false,
    keepsSecretsElsewhere: false,
    rollsOut: false,
    namesWorkloads: false,
    image: 'apply',
    withoutInstances: withoutContainer,
    applying: null,
    choosing: ['docker context use NAME   # or DOCKER_HOST, as it was then', 'docker context ls'],
  },
  kubernetes: {
    sharesMachine: false,
    namesInstances: true,
    isConfigured: false,
    hasOwnNetwork: true,
    relays: true,
    provesProcessors: true,
    keepsSecretsElsewhere: true,
    rollsOut: true,
    namesWorkloads: true,
    image: 'values',
    withoutInstances:
      'Find out why its pods are not ready: what they wait for, how they ended, or what happened to their node. A lost node must come back or be removed before they start on another.',
    applying: {
      text: 'If the file is right, apply it with helm upgrade. If the cluster is right, write its values into the file, or the next upgrade undoes them.',
      commands: [
        'helm diff upgrade RELEASE CHART -f VALUES   # with the plugin diff',
        'helm upgrade RELEASE CHART -f VALUES',
      ],
    },
    choosing: ['kubectl config use-context NAME   # the context of that cluster', 'kubectl config get-contexts'],
  },
}

/** The traits of a deployment's platform. */
export function traitsOf({ platform }: { platform: PlatformName }): PlatformTraits {
  return platforms[platform]
}
