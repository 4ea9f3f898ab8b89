import { randomFrom } from '../../support/random.ts'
import { isMembers } from '../fields.ts'

type Members = Record<string, unknown>

/** A write to the one object of a sequence, as the oracle and the tests' API server play it. */
export interface Write {
  verb: 'create' | 'replace' | 'json' | 'merge' | 'strategic' | 'apply' | 'scale' | 'forget' | 'giveUp'
  manager: string
  body?: unknown
  subresource?: 'status'
  force?: boolean
  replicas?: number
}

/** Writes to one object, in their order; the first makes it. */
export interface Sequence {
  kind: 'Deployment' | 'Secret' | 'ConfigMap'
  writes: Write[]
}

/** By whom is applied on the server's side, and who writes in other ways; some do both. */
const appliers = ['helm', 'kubectl', 'argocd-controller', 'kustomize-controller', 'helm-controller', 'testops-admin']
const writers = ['testops-admin', 'kubectl-edit', 'kubectl-client-side-apply', 'helm', 'hpa']
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** By chance, and always the same from the same seed. */
export function sequenceFrom(seed: string, length = 14): Sequence {
  const chance = chanceFrom(seed)
  const kind = chance.one('Deployment', 'Deployment', 'Deployment', 'Secret', 'ConfigMap')
  const make = kind === 'Deployment' ? deployments(chance) : dataObjects(chance, kind)
  const [first, ...writes] = Array.from({ length }, () => make())
  return { kind, writes: [beginning(make, chance, first!), ...writes] }
}

interface Chance {
  one: <T>(...all: readonly T[]) => T
  some: <T>(all: readonly T[], share?: number) => T[]
  is: (share: number) => boolean
}

function chanceFrom(seed: string): Chance {
  const random = randomFrom(seed)
  const is = (share: number): boolean => random() < share
  return {
    is,
    one: (...all) => all[Math.floor(random() * all.length)]!,
    some: (all, share = 0.5) => all.filter(() => is(share)),
  }
}

/** Something that makes a whole object. */
function beginning(make: () => Write, { one }: Chance, first: Write): Write {
  const isWhole = ({ verb, body }: Write): boolean =>
    (verb === 'apply' || verb === 'replace') &&
    !(isMembers(body) && isMembers(body['spec']) && body['spec']['selector'] === undefined)
  let it = first
  while (!isWhole(it)) it = make()
  return it.verb === 'apply' ? it : { verb: 'create', manager: one(...writers), body: it.body }
}

function deployments(chance: Chance): () => Write {
  const { one, some, is } = chance
  const value = (): string => one('1', '2', '')
  const map = (names: readonly string[], share = 0.5): Members =>
    Object.fromEntries(some(names, share).map((name) => [name, value()]))
  const optional = (name: string, make: () => unknown, share = 0.3): Members => (is(share) ? { [name]: make() } : {})
  const variable = (name: string): Members => ({
    name,
    ...one<Members>(
      { value: value() },
      { value: value() },
      { valueFrom: { secretKeyRef: { name: one('s', 't'), key: 'k' } } },
      { valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ),
  })
  const shuffled = <T>(all: readonly T[]): T[] => (is(0.3) ? [...all].reverse() : [...all])
  const port = (containerPort: number): Members => ({
    containerPort,
    ...optional('name', () => `p${containerPort}`),
    ...optional('protocol', () => one('TCP', 'UDP')),
  })
  const container = (name: string, isWhole = true): Members => ({
    name,
    ...(isWhole || is(0.3) ? { image: one('r/a:1', 'r/a:2', 'r/b') } : {}),
    ...optional('env', () => shuffled(some(['A', 'B', 'C'])).map(variable), 0.7),
    ...optional('ports', () => some([80, 81]).map(port)),
    ...optional('volumeMounts', () => some(['/a', '/b']).map((mountPath) => ({ mountPath, name: one('v', 'w') }))),
    ...optional(
      'resources',
      () => one<Members>({ limits: { cpu: '1' } }, { limits: { cpu: '2' }, requests: { memory: '1Gi' } }, {}),
      0.2,
    ),
    ...optional('command', () => one(['a'], ['a', 'b']), 0.2),
    ...optional('envFrom', () => [{ secretRef: { name: one('s', 't') } }], 0.1),
  })
  const pod = (isWhole: boolean): Members => ({
    containers: isWhole
      ? shuffled(['app', ...some(['side'])]).map((name) => container(name))
      : some(['app', 'side']).map((name) => container(name, false)),
    ...optional('initContainers', () => [container('init')], 0.1),
    ...optional('volumes', () => some(['v', 'w']).map((name) => ({ name, secret: { secretName: one('s', 't') } }))),
    ...optional('nodeSelector', () => map(['n', 'm']), 0.2),
    ...optional('tolerations', () => [{ key: one('a', 'b'), operator: 'Exists' }], 0.1),
    ...optional('imagePullSecrets', () => some(['x', 'y']).map((name) => ({ name })), 0.2),
    ...optional('securityContext', () => ({ runAsUser: one(1, 2) }), 0.1),
  })
  const spec = (isWhole: boolean): Members => ({
    ...(isWhole ? { selector: { matchLabels: { app: 'a' } } } : {}),
    ...optional('replicas', () => one(0, 1, 2, 3)),
    ...optional(
      'strategy',
      () => one<Members>({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } }, { type: 'RollingUpdate' }),
      0.3,
    ),
    ...optional('paused', () => one(true, false), 0.1),
    template: {
      ...(isWhole
        ? {
            metadata: {
              labels: { app: 'a', ...map(['l']) },
              ...optional('annotations', () => map(['restartedAt'], 0.9)),
            },
          }
        : optional('metadata', () => ({ annotations: map(['restartedAt', 'x'], 0.7) }))),
      spec: pod(isWhole),
    },
  })
  const whole = (): Members => object('apps/v1', 'Deployment', chance, { spec: spec(is(0.8)) })
  const status = (): Members => ({
    status: {
      observedGeneration: one(1, 2),
      conditions: some(['Available', 'Progressing']).map((type) => ({
        type,
        status: one('True', 'False'),
        lastUpdateTime: one('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
    },
  })
  const strategic = (): Members =>
    object('apps/v1', 'Deployment', chance, {
      spec: {
        ...optional('replicas', () => one(1, 2)),
        template: {
          ...optional('metadata', () => ({ annotations: { restartedAt: one('1', null) } })),
          spec: {
            containers: some(['app', 'side'], 0.7).map((name) =>
              one<Members>(
                { name, image: 'r/c:1' },
                {
                  name,
                  image: 'r/a:1',
                  env: some(['A', 'B', 'D']).map((it) =>
                    one<Members>(
                      { name: it, value: value() },
                      { name: it, value: value() },
                      { name: it, $patch: 'delete' },
                    ),
                  ),
                },
              ),
            ),
          },
        },
      },
    })
  const paths = [
    '/spec/template/spec/containers/0/image',
    '/spec/template/spec/containers/0/env/0/value',
    '/metadata/labels/l',
    '/spec/replicas',
    '/spec/template/spec/containers/0/env/0',
    '/spec/template/spec/containers/0/env/-',
    '/spec/template/spec/containers/0/env',
    '/spec/template/spec/nodeSelector',
  ]
  const operation = (): Members => {
    const [op, path] = [one('add', 'replace', 'remove'), one(...paths)]
    const given = path.endsWith('replicas')
      ? one(1, 2)
      : path.endsWith('/env')
        ? [variable('A'), variable('B')]
        : /env\/.$/.test(path)
          ? variable(one('A', 'B'))
          : path.endsWith('nodeSelector')
            ? map(['n'])
            : one('1', '2')
    return op === 'remove' ? { op, path } : { op, path, value: given }
  }
  return () =>
    written(chance, whole, {
      scale: () => ({ verb: 'scale', manager: one('hpa', 'kubectl', 'testops-admin'), replicas: one(0, 1, 2, 3) }),
      status: () => ({ verb: 'merge', manager: 'kube-controller-manager', subresource: 'status', body: status() }),
      strategic: () => ({ verb: 'strategic', manager: one(...writers), body: strategic() }),
      json: () => ({ verb: 'json', manager: one(...writers), body: [operation(), ...some([1]).map(operation)] }),
    })
}

function dataObjects(chance: Chance, kind: 'Secret' | 'ConfigMap'): () => Write {
  const { one, some } = chance
  const isSecret = kind === 'Secret'
  const value = (): string => (isSecret ? one('YQ==', 'Yg==', '') : one('a', 'b', ''))
  const map = (make: () => unknown): Members => Object.fromEntries(some(['x', 'y', 'z']).map((name) => [name, make()]))
  const whole = (): Members =>
    object('v1', kind, chance, {
      ...one<Members>(
        { data: map(value) },
        { data: map(value) },
        isSecret ? { stringData: map(() => one('a', 'b')) } : { binaryData: map(() => one('YQ==', 'Yg==')) },
        {},
      ),
      ...(isSecret && chance.is(0.5) ? { type: 'Opaque' } : {}),
    })
  return () =>
    written(chance, whole, {
      merge: () => ({
        verb: 'merge',
        manager: one(...writers),
        body: {
          data: one<unknown>(
            map(() => one(value(), null)),
            map(value),
            null,
          ),
        },
      }),
      json: () => ({
        verb: 'json',
        manager: one(...writers),
        body: [
          one<Members>(
            { op: 'add', path: '/data/x', value: value() },
            { op: 'remove', path: '/data/y' },
            { op: 'replace', path: '/data/z', value: value() },
          ),
        ],
      }),
    })
}

function object(apiVersion: string, kind: string, { one, some, is }: Chance, rest: Members): Members {
  const map = (names: readonly string[]): Members =>
    Object.fromEntries(some(names).map((name) => [name, one('1', '2', '')]))
  const metadata = {
    name: 'a',
    namespace: 'testops',
    ...(is(0.3) && { labels: map(['l', 'm']) }),
    ...(is(0.3) && { annotations: map(['a', 'b/c']) }),
    ...(is(0.1) && { finalizers: some(['x.io/f', 'x.io/g']) }),
  }
  return { apiVersion, kind, metadata, ...rest }
}

/** What all kinds are written by, and what only this one is. */
function written({ one, is }: Chance, whole: () => Members, others: Readonly<Record<string, () => Write>>): Write {
  const all: readonly (() => Write)[] = [
    () => ({ verb: 'apply', manager: one(...appliers), force: is(0.4), body: whole() }),
    () => ({ verb: 'apply', manager: one(...appliers), force: is(0.4), body: whole() }),
    () => ({ verb: 'apply', manager: one(...appliers), force: is(0.4), body: whole() }),
    () => ({ verb: 'replace', manager: one(...writers), body: whole() }),
    () => ({ verb: 'giveUp', manager: one(...writers) }),
    () => ({ verb: is(0.5) ? 'strategic' : 'replace', manager: 'kubectl-client-side-apply', body: noted(whole()) }),
    ...(is(0.1) ? [(): Write => ({ verb: 'forget', manager: 'kubectl-edit' })] : []),
    ...Object.values(others),
    ...Object.values(others),
  ]
  return one(...all)()
}

/** As `kubectl apply` notes on its own side what it applied. */
function noted(config: Members): Members {
  const metadata = config['metadata'] as Members
  return {
    ...config,
    metadata: {
      ...metadata,
      annotations: { ...(metadata['annotations'] as Members | undefined), [lastApplied]: JSON.stringify(config) },
    },
  }
}
