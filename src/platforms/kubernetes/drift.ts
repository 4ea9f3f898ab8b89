import { filesSource } from '../../adapters/settings-file/index.ts'
import { AdminError } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import type { DriftingSetting, ServiceImage } from '../../core/sources.ts'
import { chartKeys } from '../../knowledge/chart.ts'
import { settingNames, vendorIn } from '../../knowledge/settings.ts'
import { differing } from '../drift.ts'
import type { KubernetesSettings } from './settings.ts'

/**
 * Finds what the values file states differently from the pod template: settings of its own by their names, and the
 * image by its keys. Does not compare what the file leaves to the chart. Throws NOT_CONFIGURED if no file is named, and
 * as `FilesSource`.
 */
export async function driftFrom(
  values: KubernetesSettings['values'],
  runs: ReadonlyMap<string, string | Secret>,
  image: ServiceImage,
): Promise<DriftingSetting[]> {
  if (!values)
    throw new AdminError('NOT_CONFIGURED', 'no values file of the release is configured: set `kubernetes.values`')
  const { file, path } = values
  const files = filesSource()
  const textAt = async (keys: readonly string[]): Promise<string | null> => {
    const { text } = await files.look(file, [...path, ...keys])
    // a template's value is known only once it is filled in
    return text?.includes('{{') ? null : text
  }
  const own = await files.keys(file, [...path, ...chartKeys.openSettings])
  const declared = new Map<string, string | null>()
  for (const name of own) declared.set(name, await textAt([...chartKeys.openSettings, name]))
  const { tokenValiditySeconds } = settingNames(vendorIn(runs.keys()))
  if (!declared.has(tokenValiditySeconds))
    declared.set(tokenValiditySeconds, await textAt(chartKeys.tokenValiditySeconds))
  const ofImage = new Map([
    [chartKeys.imageName.join('.'), [await textAt(chartKeys.imageName), image.name]],
    [chartKeys.version.join('.'), [await textAt(chartKeys.version), image.tag]],
  ] as const)
  const stated = (all: ReadonlyMap<string, string | null>): string[] =>
    [...all].flatMap(([name, value]) => (value === null || value === '' ? [] : [name]))
  const meant = new Map([...ofImage].map(([name, [value]]) => [name, value]))
  const is = new Map([...ofImage].map(([name, [, value]]) => [name, value]))
  return [
    ...differing(stated(declared), declared, runs, readsAlike),
    ...differing(stated(meant), meant, is, readsAlike),
  ]
}

/** True if Helm passes both on alike: it reads numbers and booleans as YAML, so that 5.30 becomes 5.3, and yes true. */
function readsAlike(one: string, other: string): boolean {
  if (one.trim() !== '' && Number(one) === Number(other)) return true
  const truth = (text: string): string =>
    text
      .toLowerCase()
      .replace(/^(?:yes|on)$/, 'true')
      .replace(/^(?:no|off)$/, 'false')
  return truth(one) === truth(other)
}
