import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { load } from 'js-yaml'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { differing } from '../../../src/core/values.ts'
import { askCompose, composeProgram } from '../../support/compose-program.ts'
import { operator } from '../support/operator.ts'

let program = ''
beforeAll(async () => void (program = await composeProgram()), 300_000)

interface Layout {
  what: string
  /** of the project; the first is named to the command */
  files: Record<string, string>
  words?: readonly string[]
  /** services of which the image becomes the legacy one */
  services?: readonly string[]
  /** in what the compose program makes of the files, beside those images */
  image?: readonly [was: string, is: string]
  /** of the shell that asks the compose program */
  environment?: Record<string, string>
}

const usual =
  'services:\n  testops:\n    image: r.example.org/acme/testops:527u01 # of June\n    restart: always\n  ' +
  'redis:\n    image: redis:7\n'
const extending =
  'services:\n  testops:\n    extends: {file: common/base.yml, service: base}\n  redis: {image: "redis:7"}\n'
const base = 'services:\n  base:\n    image: r.example.org/acme/testops:527u01\n    environment: {A: b}\n'
const [plain, legacy] = ['r.example.org/acme/testops:527u01', 'r.example.org/acme/testops-legacy:527u01']

const layouts: Layout[] = [
  { what: 'plain', files: { 'docker-compose.yml': usual } },
  {
    what: 'in quotes, with Windows line ends',
    files: { 'docker-compose.yml': usual.replace(/image: (r\S+)/, "'image': '$1'").replaceAll('\n', '\r\n') },
  },
  {
    what: 'on one line, with a version',
    files: {
      'docker-compose.yml': `{version: "3.8", services: {testops: {image: "${plain}", ports: ["8080:8080"]}}}\n`,
    },
  },
  {
    what: 'without a tag',
    files: { 'docker-compose.yml': 'services:\n  testops:\n    image: acme/testops\n' },
    words: ['--accept-risk', 'unknown-build'],
    image: ['acme/testops', 'acme/testops-legacy'],
  },
  {
    what: 'at a registry with a port',
    files: { 'docker-compose.yml': usual.replace('r.example.org', 'localhost:5000') },
    image: ['localhost:5000/acme/testops:527u01', 'localhost:5000/acme/testops-legacy:527u01'],
  },
  {
    what: 'a tag of .env',
    files: { 'docker-compose.yml': usual.replace('527u01', '${RELEASE}'), '.env': 'RELEASE=527u01\n' },
  },
  {
    what: 'a tag of .env with a default',
    files: { 'docker-compose.yml': usual.replace('527u01', '${RELEASE:-527u01}') },
  },
  {
    what: 'registry and path of variables',
    files: {
      'docker-compose.yml': usual.replace('r.example.org/acme', '${REGISTRY}/${TEAM:-acme}'),
      '.env': 'REGISTRY=r.example.org\n',
    },
  },
  {
    what: 'a tag of the shell alone',
    files: { 'docker-compose.yml': usual.replace('527u01', '${RELEASE:?is to be set}') },
    environment: { RELEASE: '527u01' },
    words: ['--accept-risk', 'unknown-build'],
  },
  {
    what: 'another build',
    files: { 'docker-compose.yml': usual },
    words: ['--build', '527u02'],
    image: [plain, legacy.replace('527u01', '527u02')],
  },
  {
    what: 'with a profile',
    files: { 'docker-compose.yml': usual.replace('    restart', '    profiles: [prod]\n    restart') },
    environment: { COMPOSE_PROFILES: 'prod' },
  },
  {
    what: 'a merge of the service',
    files: {
      'docker-compose.yml':
        `x-common: &common\n  restart: always\n  environment: {A: b}\nservices:\n  testops:\n    <<: *common\n   ` +
        ` image: ${plain}\n`,
    },
  },
  {
    what: 'two services with their own images',
    files: { 'docker-compose.yml': usual.replace('redis:\n    image: redis:7', `worker:\n    image: ${plain}`) },
    words: ['--service', 'testops'],
  },
  {
    what: 'in a file that is included',
    files: { 'docker-compose.yml': 'include:\n  - app/compose.yml\n', 'app/compose.yml': usual },
  },
  {
    what: 'in one that such a file includes',
    files: {
      'docker-compose.yml': 'include:\n  - path: app/a.yml\n',
      'app/a.yml': 'include: [b.yml]\nservices: {redis: {image: "redis:7"}}\n',
      'app/b.yml': usual.replace(/ {2}redis[^]*/, ''),
    },
  },
  {
    what: 'of what it extends, in another file',
    files: { 'docker-compose.yml': extending, 'common/base.yml': base },
    words: ['--service', 'testops'],
  },
  {
    what: 'of what it extends, in the same',
    files: { 'docker-compose.yml': `${base}  testops:\n    extends: {service: base}\n` },
    words: ['--service', 'testops'],
    services: ['base', 'testops'],
  },
  {
    what: 'above what it extends',
    files: {
      'docker-compose.yml': extending.replace('    extends', `    image: ${plain}\n    extends`),
      'common/base.yml': base.replace('testops', 'other'),
    },
    words: ['--service', 'testops'],
  },
  {
    what: 'beside what compose resets',
    files: { 'docker-compose.yml': usual.replace('    restart', '    ports: !reset []\n    restart') },
  },
]

test.each(layouts)(
  '$what: compose makes the same of the files but for the image, and it is taken back to the byte',
  async ({ files, words = [], services = ['testops'], image = [plain, legacy], environment = {} }) => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'testops-admin-layouts-')))
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    const someone = await operator({ name: 'docker-compose.yml', environment: {} })
    onTestFinished(async () => {
      await someone.leave()
      await rm(folder, { recursive: true })
    })
    const main = join(folder, Object.keys(files)[0]!)
    const composed = async (): Promise<unknown> => {
      const { code, stdout, stderr } = await askCompose(program, ['--file', main, 'config'], {
        directory: folder,
        environment: { PATH: process.env['PATH']!, HOME: folder, ...environment },
      })
      expect(code, stderr).toBe(0)
      return load(stdout)
    }
    const was = await composed()
    const ended = await someone.repair(['use-legacy-image', '--compose', main, ...words])
    expect(ended.code, ended.stdout).toBe(0)
    const is = await composed()
    const imageOf = (of: unknown, name: string): unknown =>
      (of as { services: Record<string, { image: string }> }).services[name]!.image
    expect(
      differing(was, is)
        .map((path) => path.join('.'))
        .sort(),
    ).toEqual(services.map((name) => `services.${name}.image`).sort())
    expect(services.map((name) => [imageOf(was, name), imageOf(is, name)])).toEqual(services.map(() => image))
    const { run } = ended.json<{ run: string }>()
    expect((await someone.repair(['undo', run, '--compose', main])).code).toBe(0)
    for (const [name, text] of Object.entries(files)) expect(await readFile(join(folder, name), 'utf8')).toBe(text)
    expect((await readdir(folder, { recursive: true })).filter((name) => name.includes('testops-admin'))).toEqual([])
  },
  120_000,
)
