import type { ServiceCommands } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import type { KubernetesClient } from './client.ts'
import type { FoundService } from './find.ts'
import { nested, sentence } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** What an operator would type for this service. */
export function commandsFor(
  { kubectl, context }: Pick<KubernetesClient, 'kubectl' | 'context'>,
  { resource, namespace, name, workload, container }: FoundService,
): ServiceCommands {
  const kind = resource === 'deployments' ? 'deployment' : 'statefulset'
  const which = `${kind}/${name}`
  const here = (...words: string[]): ShellCommand => kubectl('-n', namespace, ...words)
  const labels = Object.entries(workload.spec.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const release = workload.metadata.annotations?.['meta.helm.sh/release-name']
  const values =
    release === undefined
      ? null
      : typed([
          'helm',
          'get',
          'values',
          release,
          '-n',
          workload.metadata.annotations?.['meta.helm.sh/release-namespace'] ?? namespace,
          ...(context === null ? [] : ['--kube-context', context]),
        ])
  return {
    start: here('scale', which, `--replicas=${workload.spec.replicas || 1}`),
    stop: here('scale', which, '--replicas=0'),
    restart: here('rollout', 'restart', which),
    status: here('get', 'pods', ...(labels.length > 0 ? ['-l', labels.join(',')] : []), '-o', 'wide'),
    logs: here('logs', which, '-c', container.name, '--tail=200'),
    processes: here('exec', which, '-c', container.name, '--', 'ps', '-ef'),
    edit: here('edit', which),
    settings: sentence`the environment of ${kind} ${name} (${nested(here('edit', which))})${nested(values === null ? '' : sentence`, and the values of its release (${nested(values)})`)}`,
    ...(values !== null && { values }),
  }
}
