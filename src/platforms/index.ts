import type { ComposeSettings } from './compose/find.ts'
import type { Secret } from '../core/secret.ts'
import type { Finder, Platform, PlatformOptions } from './platform.ts'
import { openHost } from './host/index.ts'
import type { HostSettings } from './host/index.ts'
import type { KubernetesSettings } from './kubernetes/index.ts'

export type { Finder, Found, Platform, PlatformOptions, Proof, RelayWish, Seen } from './platform.ts'
export { findComposeProjects } from './compose/find.ts'
export { findJavaProcesses, findUnits, initScript } from './host/finder.ts'
export type { JavaProcess } from './host/finder.ts'
export { wordsOf } from './host/systemd.ts'
export { readMachine } from './host/machine.ts'
export type { Command, HostSettings } from './host/index.ts'
export type { ComposeSettings } from './compose/find.ts'
export type { KubernetesSettings } from './kubernetes/index.ts'

/** Looks into the current cluster, if kubectl or the pod knows one; loads the client only then. */
export const findReleases: Finder = async (options) => (await import('./kubernetes/finder.ts')).findReleases(options)

/** Where a deployment runs, as far as it is described. */
export type PlatformSettings =
  | { platform: 'host'; host: HostSettings }
  | { platform: 'compose'; compose: ComposeSettings }
  | { platform: 'kubernetes'; kubernetes: KubernetesSettings }

/** Opens the platform of a deployment. Never throws for something missing: the method that needs it does. */
export async function openPlatform(settings: PlatformSettings, options: PlatformOptions): Promise<Platform> {
  switch (settings.platform) {
    case 'host':
      return openHost(settings.host, options)
    case 'compose':
      return (await import('./compose/index.ts')).openCompose(settings.compose, options)
    case 'kubernetes':
      return (await import('./kubernetes/index.ts')).openKubernetes(settings.kubernetes, options)
  }
}

/**
 * Names the cluster and its namespace, or the engine, that a deployment is in, for people. Null if none is known, or
 * for this machine's default engine. Does not contact it.
 */
export async function clusterOf(
  settings: PlatformSettings,
  options: Pick<PlatformOptions, 'environment'>,
): Promise<string | null> {
  switch (settings.platform) {
    case 'host':
      return null
    case 'compose':
      return (await import('./compose/index.ts')).engineAt(options)
    case 'kubernetes':
      return (await import('./kubernetes/index.ts')).clusterAt(settings.kubernetes, options)
  }
}

/**
 * Returns the compose files that declare the service; null if it is on another platform, or if they are not on this
 * machine. Throws as the platform's `composeFiles`.
 */
export async function composeFilesOf(
  settings: PlatformSettings,
  options: PlatformOptions,
): Promise<{ paths: readonly string[]; service: string } | null> {
  return settings.platform === 'compose'
    ? (await import('./compose/index.ts')).composeFiles(settings.compose, options)
    : null
}

/**
 * Reads one key of a Secret of a cluster: NAME/KEY or NAMESPACE/NAME/KEY. Throws as the platform's `readClusterSecret`.
 */
export async function readClusterSecret(
  reference: string,
  settings: KubernetesSettings,
  options: PlatformOptions,
): Promise<Secret> {
  const kubernetes = await import('./kubernetes/index.ts')
  return kubernetes.readClusterSecret(reference, settings, options)
}
