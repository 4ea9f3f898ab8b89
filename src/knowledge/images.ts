/** Names of the service's images, without registry and tag (SPEC.md 1). */
export const images = {
  /** Needs x86-64-v3 since build 526u03 (SPEC.md 7) */
  standard: 'testops',
  /** For processors without it, since build 527u01 (SPEC.md 7) */
  legacy: 'testops-legacy',
} as const

/**
 * Images to try first if one with a shell and the usual small programs is needed, by the last part of their names. The
 * rest may or may not have them.
 */
const likely = /busybox|alpine|toolbox|netshoot|debian|ubuntu|fedora|centos|ubi\d*|bash|shell/

const usual = new RegExp(
  'postgres|redis|valkey|rabbitmq|nginx|httpd|mysql|mariadb|node$|python|php|testops|java|jre|jdk|temurin|tomcat|' +
    'keycloak|grafana',
)

/**
 * Images of a cluster's own parts, built without a shell (kubernetes/kubernetes build/;
 * GoogleContainerTools/distroless)
 */
const without = new RegExp(
  '^(?:pause|etcd|coredns|kube-|cloud-controller|metrics-server|distroless|static|csi-|livenessprobe|node-driver|' +
    'snapshot-controller|external-|cert-manager|kustomize-|source-controller|helm-controller|autoscaler|' +
    'cluster-autoscaler)',
)

/** Ranks an image by its name, from 0, which has these programs, to 3, which has none. */
export function toolsRank(image: string): 0 | 1 | 2 | 3 {
  const name = image.split('@')[0]?.split('/').at(-1)?.split(':')[0] ?? ''
  if (without.test(name)) return 3
  return likely.test(name) ? 0 : usual.test(name) ? 1 : 2
}
