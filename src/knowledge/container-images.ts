/**
 * Which images are worth a try where one is needed that has a shell and the usual small programs. By the last part of
 * their names; the rest may or may not have them.
 */
const likely = /busybox|alpine|toolbox|netshoot|debian|ubuntu|fedora|centos|ubi\d*|bash|shell/
const usual =
  /postgres|redis|valkey|rabbitmq|nginx|httpd|mysql|mariadb|node$|python|php|testops|java|jre|jdk|temurin|tomcat|keycloak|grafana/
/**
 * those of a cluster's own parts are built without any (kubernetes/kubernetes build/; GoogleContainerTools/distroless)
 */
const without =
  /^(?:pause|etcd|coredns|kube-|cloud-controller|metrics-server|distroless|static|csi-|livenessprobe|node-driver|snapshot-controller|external-|cert-manager|kustomize-|source-controller|helm-controller|autoscaler|cluster-autoscaler)/

/** 0: it has them by its name; 3: it has none. */
export function toolsRank(image: string): 0 | 1 | 2 | 3 {
  const name = image.split('@')[0]?.split('/').at(-1)?.split(':')[0] ?? ''
  if (without.test(name)) return 3
  return likely.test(name) ? 0 : usual.test(name) ? 1 : 2
}
