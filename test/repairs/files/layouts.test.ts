import { beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { changesIn, valuesSituation } from './situation.ts'
import type { ChartName } from './situation.ts'
import { decisive } from '../../support/campaign.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

const legacy = ['use-legacy-image']
const durable = ['set-env', '--durable-queues', 'true']
const image = (was: string, is: string): string[] => [
  `- image: "registry.example.org/acme/${was}"`,
  `+ image: "registry.example.org/acme/${is}"`,
]
const toLegacy = image('testops:527u01', 'testops-legacy:527u01')
const setDurable = ['+ - {name: ALLURE_RABBIT_DURABLE, value: "true"}']

const release = (values: string): string =>
  `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: testops}\nspec:\n  chart:\n    ` +
  `spec: {chart: testops, version: 5.27.2}\n${values}`
const application = (helm: string): string =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: testops # prod\nspec:\n  source:\n  ` +
  `  chart: testops\n    helm:\n${helm}  destination: {namespace: testops}\n`

interface Edited {
  what: string
  before: string
  words: readonly string[]
  /** names it to the command as well */
  isTold?: boolean
  chart?: ChartName
  /** where the values lie in the file */
  at?: readonly string[]
  changes: readonly string[]
}

describe.each(
  decisive(
    [
      { helm: 4, isHelm3: false },
      { helm: 3, isHelm3: true },
    ],
    1,
  ),
)('with helm $helm', ({ isHelm3 }) => {
  test.each<Edited>([
    {
      what: "the vendor's own values",
      before: 'version: 527u01 # of June\nimage:\n  imageName: testops\n',
      words: legacy,
      changes: toLegacy,
    },
    {
      what: 'the same, with the chart',
      before: 'version: 527u01\nimage:\n  imageName: testops\n',
      words: legacy,
      isTold: true,
      changes: toLegacy,
    },
    {
      what: 'values that name no image, with the chart',
      before: 'version: 527u01\n',
      words: legacy,
      isTold: true,
      changes: toLegacy,
    },
    {
      what: 'a build, too',
      before: 'version: 526u03\nimage: {imageName: testops}\n',
      words: [...legacy, '--build', '527u02'],
      isTold: true,
      changes: image('testops:526u03', 'testops-legacy:527u02'),
    },
    {
      what: "a setting after the prefix of the chart's templates",
      before: 'version: 527u01\n',
      words: durable,
      isTold: true,
      changes: setDurable,
    },
    {
      what: 'a setting after the prefix of the file',
      before: 'version: 527u01\nenv:\n  open:\n    ALLURE_REDIS_NAMESPACE: a\n',
      words: durable,
      changes: setDurable,
    },
    {
      what: 'a logger after the package of the templates',
      before: 'version: 527u01\n',
      words: ['set-env', '--integration-debug', 'on'],
      isTold: true,
      changes: ['+ - {name: LOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION, value: "debug"}'],
    },
    {
      what: 'a setting that the chart makes of its own key',
      before: 'version: 527u01\n',
      words: ['set-env', 'TZ=Asia/Tokyo'],
      isTold: true,
      changes: ['- - {name: TZ, value: "Europe/London"}', '+ - {name: TZ, value: "Asia/Tokyo"}'],
    },
    {
      what: 'the same, without the chart',
      before: 'version: 527u01\n',
      words: ['set-env', 'TZ=Asia/Tokyo'],
      changes: ['- - {name: TZ, value: "Europe/London"}', '+ - {name: TZ, value: "Asia/Tokyo"}'],
    },
    {
      what: 'a setting of a key that is empty',
      before: 'version: 527u01\n',
      words: ['set-env', 'ALLURE_REDIS_NAMESPACE=a'],
      isTold: true,
      changes: ['+ - {name: ALLURE_REDIS_NAMESPACE, value: "a"}'],
    },
    {
      what: 'the life of a token',
      before: 'version: 527u01\n',
      words: ['set-env', '--token-lifetime', '3600'],
      changes: [
        '- - {name: ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS, value: "57600"}',
        '+ - {name: ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS, value: "3600"}',
      ],
    },
    {
      what: 'a Flux HelmRelease',
      before: release('  values: # ours\n    version: 527u01\n    image:\n      imageName: testops\n'),
      words: legacy,
      at: ['spec', 'values'],
      changes: toLegacy,
    },
    {
      what: 'a setting of a Flux HelmRelease',
      before: release('  values:\n    version: 527u01\n  interval: 1h\n'),
      words: durable,
      isTold: true,
      at: ['spec', 'values'],
      changes: setDurable,
    },
    {
      what: "an Argo CD Application's valuesObject",
      before: application('      valuesObject:\n        version: 527u01\n        image: {imageName: testops}\n'),
      words: legacy,
      at: ['spec', 'source', 'helm', 'valuesObject'],
      changes: toLegacy,
    },
    {
      what: "an Argo CD Application's values",
      before: application(
        '      values: |\n        # of prod\n        version: 527u01\n\n        image:\n          imageName: ' +
          'testops # the usual one\n',
      ),
      words: legacy,
      isTold: true,
      at: ['spec', 'source', 'helm', 'values'],
      changes: toLegacy,
    },
    {
      what: "a setting of an Argo CD Application's values",
      before: application(
        '      values: |-\n        version: 527u01\n        env:\n          open:\n            ' +
          'ALLURE_REDIS_NAMESPACE: a\n',
      ),
      words: durable,
      at: ['spec', 'source', 'helm', 'values'],
      changes: setDurable,
    },
    {
      what: 'an umbrella two deep',
      before: 'platform:\n  testops:\n    version: 527u01\n    image: {imageName: testops}\n',
      words: [...legacy, '--path', 'platform.testops'],
      isTold: true,
      chart: 'umbrella',
      changes: toLegacy,
    },
    {
      what: 'a setting of an umbrella two deep',
      before: 'platform: {testops: {version: 527u01}}\n',
      words: [...durable, '--path', 'platform.testops'],
      isTold: true,
      chart: 'umbrella',
      changes: setDurable,
    },
    {
      what: 'no imageName, and the name in the repository',
      before: 'version: 527u01\nimage:\n  imageName:\n  repository: r.example.org/acme/testops\n',
      words: legacy,
      isTold: true,
      changes: ['- image: "r.example.org/acme/testops:527u01"', '+ image: "r.example.org/acme/testops-legacy:527u01"'],
    },
    {
      what: 'an empty imageName, and the name in the repository',
      before: 'version: 527u01\nimage: {imageName: "", repository: r.example.org/acme/testops}\n',
      words: legacy,
      changes: ['- image: "r.example.org/acme/testops:527u01"', '+ image: "r.example.org/acme/testops-legacy:527u01"'],
    },
    {
      what: 'a path in imageName',
      before: 'version: 527u01\nimage: {imageName: mirror/testops}\n',
      words: legacy,
      isTold: true,
      changes: image('mirror/testops:527u01', 'mirror/testops-legacy:527u01'),
    },
    {
      what: 'a digest that a build takes the place of',
      before: 'version: "527u01@sha256:12"\nimage: {imageName: testops}\n',
      words: [...legacy, '--build', '527u02'],
      changes: image('testops:527u01@sha256:12', 'testops-legacy:527u02'),
    },
    {
      what: 'a version of the year, accepted',
      before: 'version: 25.3.2\nimage: {imageName: testops}\n',
      words: [...legacy, '--accept-risk', 'unknown-build'],
      changes: image('testops:25.3.2', 'testops-legacy:25.3.2'),
    },
  ])(
    '$what: nothing else that is rendered changes, and it is taken back to the byte',
    async ({ before, words, isTold = false, chart = 'vendor', at, changes }) => {
      const { someone, file, text, rendered, chart: placeOf } = await valuesSituation(before, { isHelm3 })
      const was = await rendered(chart, at)
      const [verb = '', ...rest] = words
      const ended = await someone.repair([
        verb,
        '--values',
        file,
        ...(isTold ? ['--chart', await placeOf(chart)] : []),
        ...rest,
      ])
      const document = ended.json<RepairDocument>()
      expect([ended.code, document.outcome], ended.stdout).toEqual([0, 'done'])
      expect(changesIn(was, await rendered(chart, at)).sort()).toEqual([...changes].sort())
      expect((await someone.repair(['undo', document.run!, '--values', file])).code).toBe(0)
      expect(await text()).toBe(before)
    },
    120_000,
  )
})

interface Refused {
  what: string
  before: string
  words: readonly string[]
  chart?: ChartName
  said: string
  next?: string
  code?: number
}

test.each<Refused>([
  {
    what: 'a Deployment',
    before:
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: testops}\nspec: {template: {spec: {containers: ' +
      '[{name: testops, image: "r/testops:1"}]}}}\n',
    words: legacy,
    said: 'FILE is a manifest (Deployment), not chart values. Nothing was changed',
    next: 'testops-admin use-legacy-image --values values.yaml   # the values file of the chart',
  },
  {
    what: 'a manifest that has values somewhere',
    before:
      'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec: {template: {spec: {source: {helm: ' +
      '{valuesObject: {image: {imageName: testops}}}}}}}\n',
    words: legacy,
    said: 'FILE is a manifest (ApplicationSet), not chart values. Nothing was changed',
    next:
      'testops-admin use-legacy-image --values FILE --path spec.template.spec.source.helm.valuesObject   # if ' +
      "the chart's values are at this path",
  },
  {
    what: 'a HelmRelease of an umbrella',
    before: release('  values:\n    testops: {version: 527u01, image: {imageName: testops}}\n'),
    words: legacy,
    said:
      "the values of the service's chart seem to be under spec.values.testops, as in an umbrella chart. Values " +
      'directly under spec.values would have no effect',
    next: 'testops-admin use-legacy-image --values FILE --path spec.values.testops',
  },
  {
    what: 'a HelmRelease whose outcome is patched',
    before: release('  postRenderers: []\n  values: {image: {imageName: testops}}\n'),
    words: legacy,
    said: 'FILE line 7: spec.postRenderers overrides the values of this HelmRelease. Nothing was changed',
  },
  {
    what: 'an Application with parameters',
    before: application(
      '      parameters: [{name: image.imageName, value: x}]\n      values: |\n        image: {imageName: testops}\n',
    ),
    words: legacy,
    said: 'FILE line 9: spec.source.helm.parameters overrides the values of this Application. Nothing was changed',
  },
  {
    what: 'an Application of several sources',
    before: 'apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  sources: [{chart: testops}]\n',
    words: legacy,
    said: 'FILE line 4: spec.sources overrides the values of this Application. Nothing was changed',
  },
  {
    what: 'an Application without values',
    before: application('      valueFiles: [values.yaml]\n'),
    words: legacy,
    said: 'the Application in FILE contains no values. Nothing was changed',
    next: 'testops-admin use-legacy-image --values FILE   # a values file that the manifest names',
  },
  {
    what: "an Application's values that are no YAML",
    before: application('      values: |\n        version: 527u01\n        image: [\n'),
    words: legacy,
    said: 'FILE line 11 cannot be edited safely: deficient indentation',
  },
  {
    what: "an Application's values on one line",
    before: application('      values: "image: {imageName: testops}"\n'),
    words: legacy,
    said: 'FILE line 9 cannot be edited safely: spec.source.helm.values is a single value, not a map',
  },
  {
    what: 'a helmfile',
    before: 'releases:\n  - name: testops\n    chart: testops/testops\n    values: [values.yaml]\n',
    words: legacy,
    said: 'FILE is a helmfile, not chart values. Nothing was changed',
    next: 'testops-admin use-legacy-image --values FILE   # a file that the helmfile lists under `values`',
  },
  {
    what: 'a compose file',
    before: 'version: "3.8"\nservices: {testops: {image: "r/testops:527u01"}}\n',
    words: legacy,
    said: 'FILE is a compose file, not chart values. Nothing was changed',
    next: 'testops-admin use-legacy-image --compose FILE',
  },
  {
    what: 'the description of a chart',
    before: 'apiVersion: v2\nname: testops\nversion: 5.27.2\n',
    words: legacy,
    said: 'FILE is a Chart.yaml, not chart values. Nothing was changed',
  },
  {
    what: "a web server's values",
    before: 'image: {registry: docker.io, repository: library/nginx, tag: "1.27"}\n',
    words: [...legacy, '--accept-risk', 'unknown-build'],
    said: 'cannot tell whether the chart reads image.imageName: FILE does not have this key',
    next: 'testops-admin use-legacy-image --values FILE --chart CHART',
  },
  {
    what: "a web server's values, with the chart",
    before: 'image: {repository: library/nginx}\n',
    words: legacy,
    chart: 'nginx',
    said: 'chart CHART does not read image.imageName: the edit would have no effect. Nothing was changed',
  },
  {
    what: 'a setting of a web server, with the chart',
    before: 'image: {repository: library/nginx}\n',
    words: ['set-env', 'A=b'],
    chart: 'nginx',
    said: 'chart CHART does not read env.open.A: the edit would have no effect. Nothing was changed',
  },
  {
    what: 'a setting of a web server',
    before: 'image: {repository: library/nginx}\n',
    words: ['set-env', 'A=b'],
    said: 'cannot tell whether the chart reads env.open: FILE does not have this key',
    next: 'testops-admin set-env --values FILE --chart CHART A=b',
  },
  {
    what: 'a chart of several services',
    before: 'version: 4.12.0\n',
    words: [...legacy, '--build', '527u01'],
    chart: 'services',
    said:
      'with the new values, chart CHART would make image changes that were not requested: ' +
      'Deployment/gateway, container gateway: docker.io/acme/acme-gateway:4.12.0 to ' +
      'docker.io/acme/acme-gateway:527u01, Deployment/uaa, container uaa: docker.io/acme/acme-uaa:4.12.0 to ' +
      'docker.io/acme/acme-uaa:527u01, Deployment/report, container report: docker.io/acme/acme-report:4.12.0 to ' +
      'docker.io/acme/acme-report:527u01. Nothing was changed',
  },
  {
    what: 'the same without the chart',
    before: 'version: 4.12.0\ngateway: {image: acme-gateway}\n',
    words: [...legacy, '--build', '527u01'],
    said: 'cannot tell whether the chart reads image.imageName: FILE does not have this key',
  },
  {
    what: 'a setting of several services',
    before: 'gateway: {env: {open: {}}}\nuaa: {env: {open: {}}}\n',
    words: durable,
    said:
      "the values of the service's chart seem to be under gateway, uaa, as in an umbrella chart. Values at the " +
      'top of the file would have no effect',
  },
  {
    what: 'an umbrella two deep',
    before: 'version: 1.0.0\nplatform: {testops: {image: {imageName: testops}}}\n',
    words: legacy,
    said:
      "the values of the service's chart seem to be under platform.testops, as in an umbrella chart. Values at " +
      'the top of the file would have no effect',
    next: 'testops-admin use-legacy-image --values FILE --path platform.testops',
  },
  {
    what: 'an umbrella by the wrong path',
    before: 'platform: {testops: {version: 527u01}}\ntestops: {version: 527u01}\n',
    words: [...legacy, '--path', 'testops'],
    chart: 'umbrella',
    said: 'chart CHART does not read testops.image.imageName: the edit would have no effect. Nothing was changed',
  },
  {
    what: 'a tag in imageName',
    before: 'version: 527u01\nimage: {imageName: "testops:1"}\n',
    words: legacy,
    said:
      'image.imageName in FILE line 2 is testops:1, but must be an image name without tag or digest. Nothing was ' +
      'changed',
  },
  {
    what: 'no imageName, and another name in the repository',
    before: 'version: 527u01\nimage: {imageName: ~, repository: acme/mirror}\n',
    words: legacy,
    said:
      'image.imageName in FILE line 2 is empty, so the chart takes the whole image name from image.repository. ' +
      'Nothing was changed',
  },
  {
    what: 'a digest in the version',
    before: 'version: "527u01@sha256:12"\nimage: {imageName: testops}\n',
    words: legacy,
    said: 'FILE line 1 pins the image to a digest, and another image has another digest. ' + 'Nothing was changed',
  },
  {
    what: 'a version of the year',
    before: 'version: 25.3.2\nimage: {imageName: testops}\n',
    words: legacy,
    said:
      'version 25.3.2 in FILE does not show the build. Builds before 527u01 have no image testops-legacy, ' +
      'so with an earlier build the service would not start',
  },
  {
    what: 'a prefix that nothing shows',
    before: 'version: 527u01\n',
    words: durable,
    said:
      "the prefix of the vendor's settings is unknown: no name in FILE ends in _RABBIT_DURABLE or " +
      '_JWT_ACCESS_TOKEN_VALIDITY_SECONDS. Nothing was changed',
    next: 'testops-admin set-env --vendor-prefix PREFIX   # or set vendor.prefix in the configuration',
  },
  {
    what: 'a package that nothing shows',
    before: 'version: 527u01\n',
    words: ['set-env', '--integration-debug', 'on'],
    said:
      "the package of the vendor's loggers is unknown: no name in FILE begins with LOGGING_LEVEL_ and ends in " +
      '_INTEGRATION or _REPORT_ISSUE_LISTENER. Nothing was changed',
    next: 'testops-admin set-env --vendor-package PACKAGE   # or set vendor.package in the configuration',
  },
  {
    what: 'prefixes that contradict each other',
    before: 'env: {open: {ALLURE_RABBIT_DURABLE: "x", ACME_REDIS_NAMESPACE: a}}\n',
    words: durable,
    said: "the prefix of the vendor's settings is unknown: several appear in FILE (ALLURE, ACME). Nothing was changed",
  },
  {
    what: 'the placeholder, where the prefix is another',
    before: 'env: {open: {ALLURE_REDIS_NAMESPACE: a}}\n',
    words: ['set-env', 'VENDOR_RABBIT_DURABLE=true'],
    said: 'the service does not read VENDOR_RABBIT_DURABLE: its settings begin with ALLURE_. Nothing was changed',
    next: 'testops-admin set-env --values FILE ALLURE_RABBIT_DURABLE=VALUE',
  },
  {
    what: 'the placeholder, where nothing shows the prefix',
    before: 'env: {open: {}}\n',
    words: ['set-env', 'VENDOR_ENDPOINT=https://a'],
    said:
      "the prefix of the vendor's settings is unknown: no name in FILE ends in _RABBIT_DURABLE or " +
      '_JWT_ACCESS_TOKEN_VALIDITY_SECONDS. Nothing was changed',
  },
  {
    what: 'a setting that the chart makes of a key that is not known',
    before: 'version: 527u01\n',
    words: ['set-env', 'SPRING_DATA_REDIS_HOST=a'],
    chart: 'vendor',
    said:
      'chart CHART already sets SPRING_DATA_REDIS_HOST. An entry in env.open would set it twice. Nothing was ' +
      'changed',
  },
  {
    what: 'a prefix that is none',
    before: 'version: 527u01\n',
    words: [...durable, '--vendor-prefix', 'a-b'],
    code: 64,
    said: '--vendor-prefix a-b is invalid: use capital letters, digits and _',
  },
])(
  '$what is refused, and changes nothing',
  async ({ before, words, chart, said, next, code = 4 }) => {
    const { someone, file, text, chart: placeOf } = await valuesSituation(before)
    const place = chart === undefined ? null : await placeOf(chart)
    const [verb = '', ...rest] = words
    const ended = await someone.repair([verb, '--values', file, ...(place === null ? [] : ['--chart', place]), ...rest])
    const { error } = ended.json<{ error?: { message: string; suggestions: string[] } }>()
    const plain = (it: string): string => it.replaceAll(file, 'FILE').replaceAll(place ?? file, 'CHART')
    expect([ended.code, plain(error?.message ?? ''), await text()], ended.stdout).toEqual([code, said, before])
    if (next !== undefined) expect(error?.suggestions.map(plain)).toContain(next)
  },
  60_000,
)

test('a flag tells the prefix and the package', async () => {
  const { someone, file, text } = await valuesSituation('version: 527u01\n')
  const ended = await someone.repair([
    'set-env',
    '--values',
    file,
    ...durable.slice(1),
    '--integration-debug',
    'on',
    '--vendor-prefix',
    'ACME',
    '--vendor-package',
    'org.acme',
  ])
  expect([ended.code, await text()], ended.stdout).toEqual([
    0,
    'version: 527u01\nenv:\n  open:\n    ACME_RABBIT_DURABLE: "true"\n    LOGGING_LEVEL_ORG_ACME_INTEGRATION: debug\n',
  ])
})

test('a name in a comment shows no prefix', async () => {
  const { someone, file } = await valuesSituation('version: 527u01 # ALLURE_RABBIT_DURABLE\n')
  expect((await someone.repair([...durable, '--values', file])).code).toBe(4)
})

test('a chart that helm makes nothing of is told without what helm quotes', async () => {
  const { someone, file } = await valuesSituation('version: {geheim: 1}\nimage: geheim\n')
  const ended = await someone.repair([...durable, '--values', file, '--chart', '/nowhere/chart'])
  expect([ended.code, ended.json<{ error: { message: string } }>().error.message]).toEqual([
    4,
    'helm cannot render chart /nowhere/chart with these values. Nothing was changed',
  ])
  expect(ended.stdout + ended.stderr).not.toContain('geheim')
})
