import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import type { Pod, Stored } from './resources.ts'
import { Refused } from './status.ts'

/** A pod that no workload owns, as the API server lets it in and the kubelet of its node treats it. */

/** Throws 403 where the namespace enforces the Pod Security level `restricted`, as far as that is looked at here. */
export function admit(pod: Pod, cluster: Cluster): void {
  const { name, namespace = '' } = pod.metadata
  const level = cluster.find('namespaces', null, namespace)?.metadata.labels?.['pod-security.kubernetes.io/enforce']
  if (level !== 'restricted') return
  const own = pod.spec['securityContext'] as { runAsNonRoot?: boolean; seccompProfile?: { type?: string } } | undefined
  const lacks = pod.spec.containers.flatMap((container) => {
    const context = container['securityContext'] as
      | { allowPrivilegeEscalation?: boolean; capabilities?: { drop?: string[] } }
      | undefined
    return [
      ...(context?.allowPrivilegeEscalation === false
        ? []
        : [
            `allowPrivilegeEscalation != false (container "${container.name}" must set ` +
              'securityContext.allowPrivilegeEscalation=false)',
          ]),
      ...(context?.capabilities?.drop?.includes('ALL')
        ? []
        : [
            `unrestricted capabilities (container "${container.name}" must set ` +
              'securityContext.capabilities.drop=["ALL"])',
          ]),
      ...(own?.runAsNonRoot === true
        ? []
        : [`runAsNonRoot != true (pod or container "${container.name}" must set securityContext.runAsNonRoot=true)`]),
      ...(own?.seccompProfile?.type === 'RuntimeDefault'
        ? []
        : [
            `seccompProfile (pod or container "${container.name}" must set securityContext.seccompProfile.type ` +
              'to "RuntimeDefault" or "Localhost")',
          ]),
    ]
  })
  if (lacks.length > 0)
    throw new Refused(
      403,
      'Forbidden',
      `pods "${name}" is forbidden: violates PodSecurity "restricted:latest": ${lacks.join(', ')}`,
      { name, kind: 'pods' },
    )
}

/** Starts its container with an image that the node has, by `hooks.exec`, and notes what it prints and how it ends. */
export function start(pod: Pod, cluster: Cluster): void {
  const { name, namespace = '' } = pod.metadata
  const [container] = pod.spec.containers
  if (!container) return
  const become = (phase: string, state: object): void =>
    cluster.update('pods', pod, (it) => {
      const [status] = (it as Pod).status.containerStatuses ?? []
      Object.assign((it as Pod).status, { phase, containerStatuses: [{ ...status, state }] })
    })
  const node = cluster.find('nodes', null, pod.spec.nodeName ?? '')
  const images = (node?.['status'] as { images?: { names: string[] }[] } | undefined)?.images ?? []
  if (!node || cluster.deadNodes.has(node.metadata.name)) return
  if (!images.some(({ names }) => names.includes(container.image))) {
    return become('Pending', {
      waiting: {
        reason: 'ErrImageNeverPull',
        message: `Container image "${container.image}" is not present with pull policy of Never`,
      },
    })
  }
  const command = container['command'] as string[]
  const startedAt = timestamp(new Date())
  const program = cluster.hooks.exec?.({ pod, container: container.name, command }) ?? null
  if (program === null) {
    const message =
      'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create ' +
      `failed: unable to start container process: exec: "${command[0]}": executable file not found in $PATH: ` +
      'unknown'
    return become('Failed', {
      terminated: {
        exitCode: 128,
        reason: 'StartError',
        message,
        startedAt: '1970-01-01T00:00:00Z',
        finishedAt: startedAt,
      },
    })
  }
  cluster.programs.add(program)
  program.stdin.end()
  become('Running', { running: { startedAt } })
  for (const output of [program.stdout, program.stderr]) {
    let rest = ''
    output.on('data', (bytes: Buffer) => {
      const lines = (rest + bytes.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) cluster.print(name, container.name, line, { namespace })
    })
  }
  const removed = ({ type, object }: { type: string; object: Stored }): void =>
    void (type === 'DELETED' && object.metadata.uid === pod.metadata.uid && program.kill('SIGKILL'))
  cluster.changes.on('change', removed)
  program.once('close', (code) => {
    cluster.programs.delete(program)
    cluster.changes.off('change', removed)
    become(code === 0 ? 'Succeeded' : 'Failed', {
      terminated: {
        exitCode: code ?? 137,
        reason: code === 0 ? 'Completed' : 'Error',
        startedAt,
        finishedAt: timestamp(new Date()),
      },
    })
  })
}
