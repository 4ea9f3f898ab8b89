import { toolsRank } from '../../knowledge/container-images.ts'
import type { Node, Pod } from './objects.ts'

/** An image that a node has, and the names of the Secrets that it may have been pulled with. */
export interface NodeImage {
  image: string
  pullSecrets: readonly string[]
}

/**
 * Lists the images that a node has, likely ones with a shell first, and of these the small ones. Leaves out images that
 * surely have no shell. A node's status may list only some of its images (the kubelet reports 50), so that those that
 * run there now are added.
 */
export function imagesOn(node: string, nodes: readonly Node[], pods: readonly Pod[]): NodeImage[] {
  const listed = nodes.find(({ metadata }) => metadata.name === node)?.status?.images ?? []
  const known = listed.flatMap(({ names = [], sizeBytes = Infinity }) => {
    // a tag says more to a person than a digest does
    const name = names
      .filter((it) => !it.includes('<none>'))
      .toSorted((a, b) => Number(a.includes('@')) - Number(b.includes('@')))[0]
    return name === undefined ? [] : [{ image: name, sizeBytes, pullSecrets: secretsFor(names, pods) }]
  })
  const running = pods
    .filter(({ spec, status }) => spec.nodeName === node && status?.phase === 'Running')
    .flatMap(({ spec }) =>
      spec.containers.map(({ image = '' }) => ({ image, sizeBytes: Infinity, pullSecrets: namesIn(spec) })),
    )
  const all = [
    ...known,
    ...running.filter(
      ({ image }, index) =>
        image !== '' &&
        !listed.some(({ names = [] }) => names.includes(image)) &&
        running.findIndex((it) => it.image === image) === index,
    ),
  ]
  return all
    .filter(({ image }) => toolsRank(image) < 3)
    .toSorted(
      (a, b) =>
        toolsRank(a.image) - toolsRank(b.image) || (a.sizeBytes === b.sizeBytes ? 0 : a.sizeBytes - b.sizeBytes),
    )
    .map(({ image, pullSecrets }) => ({ image, pullSecrets }))
}

/** Returns the Secrets of its users: since 1.35, a kubelet lets only pods that name one use the image (KEP-2535). */
function secretsFor(names: readonly string[], pods: readonly Pod[]): readonly string[] {
  const users = pods.filter(({ spec }) => spec.containers.some(({ image = '' }) => names.includes(image)))
  return [...new Set(users.flatMap(({ spec }) => namesIn(spec)))]
}

function namesIn({ imagePullSecrets = [] }: Pod['spec']): readonly string[] {
  return imagePullSecrets.flatMap(({ name }) => name ?? [])
}
