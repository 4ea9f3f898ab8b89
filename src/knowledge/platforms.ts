import type { PlatformName } from '../core/deployment.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** What a platform can do, and how its parts are dealt with (SPEC.md parts 1 and 2; docs/platforms). */
export interface PlatformTraits {
  /** True if the service is processes of one machine, with its host name and clock, started by its units */
  sharesMachine: boolean
  /** True if the host name of a process is that of its instance, which the platform shows */
  namesInstances: boolean
  /** True if our configuration names the service's settings, its image and how it is started */
  isConfigured: boolean
  /** True if it has a network of its own: a name may resolve there and not here */
  hasOwnNetwork: boolean
  /** True if a connection can be relayed through it */
  relays: boolean
  /** True if `check-cpu --prove` reads processors there */
  provesProcessors: boolean
  /** True if somebody else keeps secrets, apart from the other settings */
  keepsSecretsElsewhere: boolean
  /** True if a changed setting rolls the service out at once, and the next deployment of the chart reverts it */
  rollsOut: boolean
  /** True if it has a name for what runs the service, which distinguishes two deployments */
  namesWorkloads: boolean
  /**
   * How the service gets another image. `apply`: this program changes it where it runs; `values`: the file of values is
   * edited; `by-hand`
   */
  image: 'apply' | 'values' | 'by-hand'
  /** What to do if a server has no instance, a sentence or two */
  withoutInstances: string
  /** How declared settings are applied; null: by a restart */
  applying: { text: string; commands: readonly Suggestion[] } | null
  /** How to choose another place of the same kind, and how to list them */
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

/** Returns the traits of a deployment's platform. */
export function traitsOf({ platform }: { platform: PlatformName }): PlatformTraits {
  return platforms[platform]
}
