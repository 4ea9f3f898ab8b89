import { createHash } from 'node:crypto'
import { AdminError } from '../../core/error.ts'
import { command, commaList, nested, sentence, typed } from '../../core/shell-command.ts'
import type { TemplateFacts, TemplateFile, YamlPart } from './facts.ts'

/** What is written where an image has to be filled in: no registry takes capitals */
const imageToFillIn = 'REGISTRY/testops-admin:TAG'
const folder = '/etc/testops-admin'
const configurationFile = 'testops-admin.yaml'
const defaultSchedule = '*/15 * * * *'
/** As Kubernetes reads a schedule (pkg robfig/cron, ParseStandard): the name of an interval, or five fields */
const intervals = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/
const cronFields: readonly { name: string; from: number; to: number; words?: readonly string[] }[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  {
    name: 'month',
    from: 1,
    to: 12,
    words: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of the week', from: 0, to: 6, words: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]

interface ClusterObject {
  kind: string
  metadata: { name: string; namespace?: string }
  roleRef?: { name: string }
  subjects?: readonly { namespace?: string }[]
}

/**
 * Returns a CronJob that runs doctor, with its account, its rights, and its configuration. Throws USAGE for an image
 * or a schedule that cannot be one.
 */
export async function cronjobFiles(facts: TemplateFacts): Promise<TemplateFile[]> {
  const { name, namespace, platform, options } = facts
  const { image, schedule = defaultSchedule, secret: ownSecret } = options
  if (image !== undefined && !/^[\w.:/@-]{1,500}$/.test(image))
    throw new AdminError('USAGE', '--image is not the name of an image', [
      '--image registry.example.org/testops-admin:1.2.3',
    ])
  const fault = faultOfSchedule(schedule)
  if (fault !== null)
    throw new AdminError('USAGE', `--schedule \`${schedule.slice(0, 100)}\` is not a schedule of cron: ${fault}`, [
      command`--schedule ${defaultSchedule}`,
    ])
  const own = objectName(name)
  const secretName = ownSecret ?? own
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(secretName))
    throw new AdminError('USAGE', '--secret is not the name of a Secret', ['kubectl get secrets'])
  const secrets: { key: string; variable: string; from: { name: string; key: string } }[] = []
  const certificates: string[] = []
  const { settings, omitted } = facts.moved({
    secret(key, place) {
      const [itsKey = '', itsName = '', itsNamespace = namespace] =
        place.form === 'kubernetesSecret' ? place.name.split('/').toReversed() : []
      const isThere = itsName !== '' && itsNamespace === namespace
      const variable = key.toUpperCase().replaceAll('-', '_')
      secrets.push({ key, variable, from: isThere ? { name: itsName, key: itsKey } : { name: secretName, key } })
      return { env: variable }
    },
    file(key, path) {
      if (!key.endsWith('ca')) return null
      const at = certificates.includes(path) ? certificates.indexOf(path) : certificates.push(path) - 1
      return `${folder}/ca-${at + 1}.pem`
    },
    omitted: [
      'kubernetes.context',
      'kubernetes.chart',
      'kubernetes.chartVersion',
      'kubernetes.valuesPath',
      'broker.rabbitmqctl',
      // the pod has no such files
      'checks',
    ],
  })
  const kubernetes = { ...(settings['kubernetes'] as object | undefined), namespace }
  const toCreate = secrets.filter(({ from }) => from.name === secretName).map(({ key }) => key)
  const configuration = { current: name, deployments: { [name]: { ...settings, platform, kubernetes } } }
  const data: (readonly [string, string])[] = [
    [configurationFile, facts.yaml(configuration)],
    ...(await Promise.all(
      certificates.map(async (path, at) => [`ca-${at + 1}.pem`, await facts.certificates(path)] as const),
    )),
  ]
  const metadata = { name: own, namespace, labels: { 'app.kubernetes.io/name': 'testops-admin' } }
  const rights = await rolesIn(facts, 'diagnose.yaml', own)
  return [
    {
      name: 'cronjob.yaml',
      content: [
        ...rights.map((part, at) => (at === 0 ? { ...part, about: [...head(facts, toCreate, secretName)] } : part)),
        {
          about: [
            'The configuration. It holds no secrets.',
            ...(omitted.length === 0 ? [] : [`Left out, as a pod has no use for it: ${commaList(omitted)}`]),
          ],
          value: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: Object.fromEntries(data) },
        },
        {
          about: image === undefined ? ['Fill in the image.'] : [],
          value: {
            apiVersion: 'batch/v1',
            kind: 'CronJob',
            metadata,
            spec: {
              schedule,
              concurrencyPolicy: 'Forbid',
              startingDeadlineSeconds: 300,
              successfulJobsHistoryLimit: 3,
              failedJobsHistoryLimit: 3,
              jobTemplate: {
                spec: {
                  // an exit code says what was found: a second try would say it again
                  backoffLimit: 0,
                  activeDeadlineSeconds: 600,
                  ttlSecondsAfterFinished: 86_400,
                  template: {
                    metadata: { labels: metadata.labels },
                    spec: podSpec(
                      own,
                      name,
                      image ?? imageToFillIn,
                      secrets,
                      data.map(([key]) => key),
                    ),
                  },
                },
              },
            },
          },
        },
      ],
    },
  ]
}

function faultOfSchedule(schedule: string): string | null {
  if (intervals.test(schedule)) return null
  const fields = schedule.trim().split(/ +/)
  if (fields.length !== cronFields.length) return `it must have ${cronFields.length} fields`
  const faults = cronFields.flatMap(({ name, from, to, words = [] }, at) => {
    const wrong = fields[at]!.split(',').find((part) => !isPart(part, from, to, words))
    if (wrong === '') return [`there is a comma too many in \`${fields[at]!}\``]
    return wrong === undefined ? [] : [`\`${wrong}\` is not a valid ${name} (${from}–${to})`]
  })
  return faults[0] ?? null
}

/** True for `*`, a number or its word, or a range, each perhaps with a step. */
function isPart(part: string, from: number, to: number, words: readonly string[]): boolean {
  const [, first = '', last = first, step = '1'] = /^(\*|\?|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? []
  const numberOf = (text: string): number => {
    const word = words.indexOf(text.toLowerCase())
    return word >= 0 ? from + word : /^\d+$/.test(text) ? Number(text) : Number.NaN
  }
  if (first === '*' || first === '?') return last === first && Number(step) > 0
  return numberOf(first) >= from && numberOf(first) <= numberOf(last) && numberOf(last) <= to && Number(step) > 0
}

function head({ name, namespace, options }: TemplateFacts, toCreate: readonly string[], secretName: string): string[] {
  const create = ['kubectl', '-n', namespace, 'create', 'secret', 'generic', secretName]
  const fromFiles = toCreate.map((key) => `--from-file=${key}=FILE`)
  return [
    sentence`Runs \`testops-admin doctor\` for deployment ${name} in the cluster. It changes nothing.`,
    ...(options.image === undefined
      ? [
          `Put your image in place of ${imageToFillIn}.`,
          'In the source folder, `npm run package -- --image` builds one.',
        ]
      : []),
    ...(toCreate.length === 0
      ? []
      : [
          'First create the Secret. Each FILE holds one secret and nothing else, without a line end:',
          command`  ${nested(typed([...create, ...fromFiles]))}`,
        ]),
    'Then: kubectl apply -f cronjob.yaml',
  ]
}

function podSpec(
  own: string,
  name: string,
  image: string,
  secrets: readonly { variable: string; from: object }[],
  files: readonly string[],
): object {
  return {
    serviceAccountName: own,
    restartPolicy: 'Never',
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10_001,
      runAsGroup: 10_001,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'doctor',
        image,
        command: ['testops-admin', 'doctor'],
        // a Job that fails says that something is wrong, not that something was not judged
        args: [`--deployment=${name}`, '--config', `${folder}/${configurationFile}`, '--fail-on', 'error'],
        env: [
          { name: 'HOME', value: '/tmp' },
          // an image may name a folder of another user
          { name: 'XDG_STATE_HOME', value: '/tmp/state' },
          // whatever is typed into this container: no repair starts
          { name: 'TESTOPS_ADMIN_READ_ONLY', value: '1' },
          ...secrets.map(({ variable, from }) => ({ name: variable, valueFrom: { secretKeyRef: from } })),
        ],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [
          { name: 'tmp', mountPath: '/tmp' },
          // one by one: anyone may write to the folder of a whole volume, so its files would not be trusted
          ...files.map((file) => ({
            name: 'configuration',
            mountPath: `${folder}/${file}`,
            subPath: file,
            readOnly: true,
          })),
        ],
      },
    ],
    volumes: [
      { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
      { name: 'configuration', configMap: { name: own } },
    ],
  }
}

/** Returns the three Roles with the least rights, for this namespace. */
export async function roleFiles(facts: TemplateFacts): Promise<TemplateFile[]> {
  return Promise.all(
    ['diagnose', 'repair', 'on-request'].map(async (kind) => {
      const { about } = await facts.source(`kubernetes/${kind}.yaml`)
      const [first, ...rest] = await rolesIn(facts, `${kind}.yaml`, `testops-admin-${kind}`)
      const lines = about.map((line) =>
        line.startsWith('kubectl apply') ? command`kubectl apply -f ${`${kind}.yaml`}` : line,
      )
      return { name: `${kind}.yaml`, content: [{ ...first!, about: lines }, ...rest] }
    }),
  )
}

/** Returns the objects of a manifest of `templates/kubernetes`, under this name, for this namespace. */
async function rolesIn({ namespace, source }: TemplateFacts, file: string, name: string): Promise<YamlPart[]> {
  const { documents } = await source(`kubernetes/${file}`)
  return (documents as readonly ClusterObject[]).map(({ roleRef, subjects, ...object }) => {
    const isOfCluster = object.kind.startsWith('Cluster')
    // a cluster may have several such namespaces
    const called = isOfCluster ? `${name}-${namespace}` : name
    return {
      about:
        object.kind === 'ClusterRole'
          ? ['Without the next two objects, testops-admin reports nodes and other namespaces as unknown.']
          : [],
      value: {
        ...object,
        metadata: { name: called, ...(!isOfCluster && { namespace }) },
        ...(roleRef && { roleRef: { ...roleRef, name: called } }),
        ...(subjects && { subjects: subjects.map((it) => ({ ...it, name, namespace })) }),
      },
    }
  })
}

/** Maximum length of the name of a CronJob, to which the names of its Jobs add 11 characters */
const longestName = 52

/** Returns the name of the objects of a deployment: no two deployments have the same. */
function objectName(deployment: string): string {
  const plain = `testops-admin-${deployment}`
  if (plain.length <= longestName && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(plain)) return plain
  const digest = createHash('sha256').update(deployment).digest('hex').slice(0, 8)
  const near = plain.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `${near.slice(0, longestName - digest.length - 1).replace(/-$/, '')}-${digest}`
}
