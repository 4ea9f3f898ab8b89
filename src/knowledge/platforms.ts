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
  /** Groups of its machine whose members may see the service and its log (systemd.journal, Docker's post-install) */
  groups: readonly string[]
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

const withoutContainer = 'Find out what happened to the container, then recreate it with Compose.'

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
    groups: ['systemd-journal'],
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
    groups: ['docker'],
    image: 'apply',
    withoutInstances: withoutContainer,
    applying: null,
    choosing: [
      'docker context use NAME   # or set DOCKER_HOST to the value that it had when the run began',
      'docker context ls',
    ],
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
    groups: [],
    image: 'values',
    withoutInstances:
      'Find out why the pods are not ready. See what they wait for, why they exited, and whether their node is ' +
      'lost. If a node is lost, bring it back or remove it. Until then, its pods cannot start on another node.',
    applying: {
      text:
        'If the values file is right, apply it with `helm upgrade`. If the values in the cluster are right, ' +
        'write them into the file, or the next upgrade undoes them.',
      commands: [
        'helm diff upgrade RELEASE CHART -f VALUES   # needs the helm-diff plugin',
        'helm upgrade RELEASE CHART -f VALUES',
      ],
    },
    choosing: [
      'kubectl config use-context NAME   # NAME: the context of the cluster where the run began',
      'kubectl config get-contexts',
    ],
  },
}

/** True if a text names a platform. */
export function isPlatformName(name: unknown): name is PlatformName {
  return typeof name === 'string' && Object.hasOwn(platforms, name)
}

/** Returns the traits of a deployment's platform. */
export function traitsOf({ platform }: { platform: PlatformName }): PlatformTraits {
  return platforms[platform]
}
