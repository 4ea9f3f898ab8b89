import { sentence } from '../core/shell-command.ts'
import type { ShellCommand } from '../core/shell-command.ts'

/** An object of a cluster that holds values of a chart. */
export interface ValuesManifest {
  /** Who makes the release from it */
  keeper: string
  /** Where they lie, the one that counts most first */
  places: readonly (readonly string[])[]
  /** What counts more than all of these */
  above: readonly (readonly string[])[]
}

const manifests: readonly (ValuesManifest & { group: string; kind: string })[] = [
  // fluxcd.io, "Helm Releases": inline values take precedence over `valuesFrom`, and patches over the result
  {
    group: 'helm.toolkit.fluxcd.io',
    kind: 'HelmRelease',
    keeper: 'Flux',
    places: [['spec', 'values']],
    above: [['spec', 'postRenderers']],
  },
  // argo-cd.readthedocs.io, "Helm": parameters > valuesObject > values > valueFiles
  {
    group: 'argoproj.io',
    kind: 'Application',
    keeper: 'Argo CD',
    places: [
      ['spec', 'source', 'helm', 'valuesObject'],
      ['spec', 'source', 'helm', 'values'],
    ],
    above: [
      ['spec', 'sources'],
      ['spec', 'source', 'helm', 'parameters'],
      ['spec', 'source', 'helm', 'fileParameters'],
      ['spec', 'source', 'kustomize'],
    ],
  },
]

/** Returns where an object's values lie; null if it is not known to contain any. */
export function manifestOf(apiVersion: string, kind: string): ValuesManifest | null {
  return manifests.find((it) => it.kind === kind && apiVersion.startsWith(`${it.group}/`)) ?? null
}

/** Returns a hint, for people, to put values at a path. */
export function valuesAt(path: readonly string[]): ShellCommand {
  return sentence`or put them under ${path.join('.')} first`
}
