import { sentence } from '../core/shell-command.ts'
import type { ShellCommand } from '../core/shell-command.ts'

/** An object of a cluster that holds values of a chart. */
export interface ValuesManifest {
  /** who makes the release of it */
  keeper: string
  /** where they lie, the one that counts most first */
  places: readonly (readonly string[])[]
  /** what counts more than all of these */
  above: readonly (readonly string[])[]
}

const manifests: readonly (ValuesManifest & { group: string; kind: string })[] = [
  // fluxcd.io, "Helm Releases": inline values stand above `valuesFrom`, and patches above what they come to
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

/** Null: it is not known to hold any. */
export function manifestOf(apiVersion: string, kind: string): ValuesManifest | null {
  return manifests.find((it) => it.kind === kind && apiVersion.startsWith(`${it.group}/`)) ?? null
}

/** For people. */
export function valuesAt(path: readonly string[]): ShellCommand {
  return sentence`or put them under ${path.join('.')} first`
}
