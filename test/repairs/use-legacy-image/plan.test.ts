import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { filesSource } from '../../../src/adapters/settings-file/index.ts'
import { AdminError } from '../../../src/core/error.ts'
import { imageText, parseImage, variableOf } from '../../../src/repairs/legacy-image/image.ts'
import { useLegacyImage } from '../../../src/repairs/use-legacy-image.ts'
import type { LegacyOptions } from '../../../src/repairs/use-legacy-image.ts'

interface Case {
  what: string
  /** by their names, in Helm's order */
  files: Readonly<Record<string, string>>
  options?: Partial<LegacyOptions>
  /** `FILE a.b=from→to`, then the names of risks; or the refusal */
  said: readonly string[]
}

/** What is beside a file that is edited by itself. */
const none = new AdminError('NOT_CONFIGURED', 'a file is worked on by itself')
const alone = { release: none, service: none, database: none, broker: none, logs: none, api: none }

/** The edits and the risks of the plan, or why there is none. */
async function planned(
  files: Case['files'],
  options: Partial<LegacyOptions>,
  flag: 'values' | 'compose',
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-legacy-'))
  onTestFinished(async () => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const paths = Object.keys(files)
    .filter((name) => name !== '.env')
    .map((name) => join(folder, name))
  const where = flag === 'values' ? { values: paths } : { compose: paths[0]! }
  const deployment = {
    name: 'values.yaml',
    platform: 'kubernetes',
    vendor: { prefix: 'VENDOR', package: 'P' },
    timeZone: null,
  } as const
  try {
    const plan = await useLegacyImage.plan({ files: filesSource(), ...alone }, deployment, {
      build: null,
      revert: false,
      main: paths[0]!,
      ...where,
      ...options,
    })
    const edits = plan.steps.flatMap(({ action }) =>
      action.kind === 'edit-values'
        ? action.edits.map((it) => `${action.file} ${it.path.join('.')}=${it.from ?? 'none'}→${it.to ?? 'none'}`)
        : [],
    )
    const told = plan.steps.length === 0 ? plan.notes : edits
    return [
      ...told,
      ...plan.notes.filter((it) => it.startsWith('the same line also sets the image of ')),
      ...plan.risks.map(({ name }) => `risk ${name}`),
    ].map((it) => it.replaceAll(`${folder}/`, ''))
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return [`${error.code} ${error.message}`, ...error.suggestions].map((it) => it.replaceAll(`${folder}/`, ''))
  }
}

const current = 'version: 527u01\nimage:\n  imageName: testops\n'
const old = 'version: 526u03\nimage:\n  imageName: testops\n'
const onlyName = 'f image.imageName=testops→testops-legacy'

describe('of values files', () => {
  const cases: Case[] = [
    { what: 'the name alone', files: { f: current }, said: [onlyName] },
    { what: 'a later build', files: { f: current.replace('527u01', '528u02') }, said: [onlyName] },
    {
      what: 'a version of the year',
      files: { f: current.replace('527u01', '26.2.1') },
      said: [onlyName, 'risk unknown-build'],
    },
    {
      what: 'a build before the first',
      files: { f: old },
      said: [
        'REFUSED f has version 526u03, but builds before 527u01 have no image testops-legacy. Nothing was changed',
        'testops-admin use-legacy-image --values f --build 527u01   # or a later build',
      ],
    },
    {
      what: 'the same with a build',
      files: { f: old },
      options: { build: '527u02' },
      said: [onlyName, 'f version=526u03→527u02'],
    },
    {
      what: 'a build before the first, asked for',
      files: { f: current },
      options: { build: '526u09' },
      said: [
        'REFUSED build 526u09 was requested, but builds before 527u01 have no image testops-legacy. Nothing ' +
          'was changed',
        'testops-admin use-legacy-image --values f --build 527u01   # or a later build',
      ],
    },
    {
      what: 'what is no build, asked for',
      files: { f: current },
      options: { build: 'new' },
      said: [
        'USAGE --build new is not a valid build. Write a build such as 527u01',
        'testops-admin use-legacy-image --values f --build 527u01',
      ],
    },
    {
      what: 'a version that is no build',
      files: { f: current.replace('527u01', 'latest') },
      said: [onlyName, 'risk unknown-build'],
    },
    {
      what: 'a version that is a number',
      files: { f: current.replace('527u01', '5.30') },
      said: [onlyName, 'risk unknown-build'],
    },
    { what: 'no version', files: { f: 'image: {imageName: testops}\n' }, said: [onlyName, 'risk unknown-build'] },
    {
      what: 'nothing at all',
      files: { f: '' },
      options: { build: '527u01' },
      said: ['f image.imageName=none→testops-legacy', 'f version=none→527u01', 'risk unknown-chart'],
    },
    {
      what: 'the legacy image already',
      files: { f: current.replace(': testops', ': testops-legacy') },
      said: ['the image is already testops-legacy'],
    },
    {
      what: 'the legacy image of no known build',
      files: { f: 'image: {imageName: testops-legacy}\n' },
      said: ['the image is already testops-legacy'],
    },
    {
      what: 'the legacy image of an old build',
      files: { f: old.replace(': testops', ': testops-legacy') },
      options: { build: '527u01' },
      said: ['f version=526u03→527u01'],
    },
    {
      what: 'an image of another name',
      files: { f: current.replace(': testops', ': mirror') },
      said: ['f image.imageName=mirror→testops-legacy', 'risk other-image'],
    },
    {
      what: 'an empty name',
      files: { f: current.replace(': testops', ': ""') },
      said: [
        'REFUSED image.imageName in f line 3 is empty, so the chart takes the whole image name from ' +
          'image.repository. Nothing was changed',
        'first set image.repository to the repository without the image name, and image.imageName to testops',
      ],
    },
    {
      what: 'an image as a text',
      files: { f: 'version: 527u01\nimage: testops\n' },
      said: ['REFUSED f line 2 cannot be edited safely: image is a single value, not a map', 'sed -n 2p f'],
    },
    {
      what: 'the last of several that has the key',
      files: { a: current, b: 'image: {imageName: testops}\n', c: 'x: 1\n' },
      said: ['b image.imageName=testops→testops-legacy'],
    },
    {
      what: 'version and name in different files',
      files: { a: current, b: 'version: 526u03\n' },
      options: { build: '527u01' },
      said: ['a image.imageName=testops→testops-legacy', 'b version=526u03→527u01'],
    },
    {
      what: 'a later file that takes the map away',
      files: { a: current, b: 'image: ~\n' },
      said: ['b image.imageName=none→testops-legacy'],
    },
    {
      what: 'a missing key, where its map is',
      files: { a: 'image: {registry: r}\nversion: 527u01\n', b: 'x: 1\n' },
      said: ['a image.imageName=none→testops-legacy'],
    },
    {
      what: 'below a key',
      files: { f: 'testops:\n  version: 527u01\n' },
      options: { path: ['testops'] },
      said: ['f testops.image.imageName=none→testops-legacy'],
    },
    {
      what: 'below a key that is not named',
      files: { f: 'testops:\n  version: 527u01\nother: 1\n' },
      said: [
        "REFUSED the values of the service's chart seem to be under testops, as in an umbrella chart. Values at " +
          'the top of the file would have no effect',
        'testops-admin use-legacy-image --values f --path testops',
      ],
    },
    {
      what: 'below a key that is not there',
      files: { f: 'testops:\n  version: 527u01\n' },
      options: { path: ['testop'], revert: true },
      said: [
        'USAGE no key testop in f; did you mean `testops`?',
        'testops-admin use-legacy-image --values f --revert --path testops',
      ],
    },
    {
      what: 'back',
      files: { f: current.replace(': testops', ': testops-legacy') },
      options: { revert: true },
      said: ['f image.imageName=testops-legacy→testops'],
    },
    {
      what: 'back, of an older build',
      files: { f: old.replace(': testops', ': testops-legacy') },
      options: { revert: true, build: '526u02' },
      said: ['f image.imageName=testops-legacy→testops', 'f version=526u03→526u02'],
    },
    {
      what: 'back from nothing',
      files: { f: 'version: latest\n' },
      options: { revert: true },
      said: ['the image is already testops'],
    },
  ]
  test.each(cases)('$what', async ({ files, options = {}, said }) =>
    expect(await planned(files, options, 'values')).toEqual(said),
  )
})

describe('of a compose file', () => {
  const real =
    'services:\n  testops:\n    image: ${IMAGES_REGISTRY}/${IMAGES_REPO}/testops:${RELEASE_TO_DEPLOY}\n  ' +
    'redis:\n    image: redis:6.2\n'
  const edited =
    'f services.testops.image=${IMAGES_REGISTRY}/${IMAGES_REPO}/testops:${RELEASE_TO_DEPLOY}→' +
    '${IMAGES_REGISTRY}/${IMAGES_REPO}/testops-legacy:${RELEASE_TO_DEPLOY}'
  const literal = real.replace(/\$\{IM.*/, 'r.io/testops:527u01')
  const two = `${literal}  other:\n    image: r.io/testops-legacy:527u01\n`
  const cases: Case[] = [
    {
      what: 'variables stay, and .env has the build',
      files: { f: real, '.env': 'RELEASE_TO_DEPLOY=527u01\n' },
      said: [edited],
    },
    {
      what: 'a build before the first',
      files: { f: real, '.env': 'RELEASE_TO_DEPLOY=526u03\n' },
      said: [
        'REFUSED .env next to f (RELEASE_TO_DEPLOY) has version 526u03, but builds before 527u01 have ' +
          'no image testops-legacy. Nothing was changed',
        'testops-admin use-legacy-image --compose f --build 527u01   # or a later build',
      ],
    },
    { what: 'no .env', files: { f: real }, said: [edited, 'risk unknown-build'] },
    {
      what: 'a default',
      files: { f: real.replace('DEPLOY}', 'DEPLOY:-527u02}') },
      said: [edited.replaceAll('DEPLOY}', 'DEPLOY:-527u02}')],
    },
    {
      what: 'a build where .env has it',
      files: { f: real, '.env': 'RELEASE_TO_DEPLOY=526u03\n' },
      options: { build: '527u01' },
      said: [
        'REFUSED the image tag in f line 3 comes from a variable (${RELEASE_TO_DEPLOY}), so --build cannot set ' +
          'it. Nothing was changed',
        'set RELEASE_TO_DEPLOY=527u01 in .env next to the compose file, then run the command without --build',
      ],
    },
    {
      what: 'a tag as it is',
      files: { f: literal },
      options: { build: '528u01' },
      said: ['f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:528u01'],
    },
    {
      what: 'no tag',
      files: { f: literal.replace(':527u01', '') },
      said: ['f services.testops.image=r.io/testops→r.io/testops-legacy', 'risk unknown-build'],
    },
    {
      what: 'a digest',
      files: { f: literal.replace(':527u01', '@sha256:12') },
      said: [
        'REFUSED a digest pins the image in f line 3 to testops, so no other image can be set there. Nothing ' +
          'was changed',
        'first remove the digest, or replace it with the digest of the new image',
      ],
    },
    {
      what: 'a name in a variable',
      files: { f: literal.replace('testops:527u01', '${NAME}:1') },
      options: { service: 'testops' },
      said: [
        'REFUSED the image name in f line 3 comes from a variable (r.io/${NAME}:1). Nothing was changed',
        'change this variable in .env next to f, so that the image name becomes testops-legacy',
      ],
    },
    {
      what: 'two services',
      files: { f: two },
      said: [
        'USAGE several services in f run testops: testops, other',
        'testops-admin use-legacy-image --compose f --service testops',
        'testops-admin use-legacy-image --compose f --service other',
      ],
    },
    {
      what: 'one of two',
      files: { f: two },
      options: { service: 'testops' },
      said: ['f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'the other, back',
      files: { f: two },
      options: { service: 'other', revert: true },
      said: ['f services.other.image=r.io/testops-legacy:527u01→r.io/testops:527u01'],
    },
    {
      what: 'a service that is not there',
      files: { f: two },
      options: { service: 'testop' },
      said: [
        'USAGE no service testop in f; did you mean `testops`?',
        'testops-admin use-legacy-image --compose f --service testops',
      ],
    },
    {
      what: 'a service without an image',
      files: { f: 'services:\n  a: {build: .}\n' },
      options: { service: 'a' },
      said: ['REFUSED service a in f line 2 sets no image. Nothing was changed', 'docker compose -f f config'],
    },
    {
      what: 'no service of ours',
      files: { f: 'services:\n  redis:\n    image: redis:6\n' },
      said: [
        'REFUSED f has no service with image testops or testops-legacy. Nothing was changed',
        'testops-admin use-legacy-image --compose f --service redis',
      ],
    },
    {
      what: 'no compose file',
      files: { f: current },
      said: ['REFUSED f has no services: it is not a compose file. Nothing was changed'],
    },
    {
      what: 'a build that .env exports, with a comment',
      files: { f: real, '.env': 'export RELEASE_TO_DEPLOY="526u03"  # until May\n' },
      said: [
        'REFUSED .env next to f (RELEASE_TO_DEPLOY) has version 526u03, but builds before 527u01 have ' +
          'no image testops-legacy. Nothing was changed',
        'testops-admin use-legacy-image --compose f --build 527u01   # or a later build',
      ],
    },
    {
      what: 'a variable that has to be set',
      files: { f: real.replace('DEPLOY}', 'DEPLOY:?set it}'), '.env': 'RELEASE_TO_DEPLOY=527u02\n' },
      said: [edited.replaceAll('DEPLOY}', 'DEPLOY:?set it}')],
    },
    {
      what: 'beside what compose resets',
      files: { f: literal.replace('  redis', '    ports: !reset []\n  redis') },
      said: ['f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'in a file that is included',
      files: { f: 'include: [app/compose.yml]\n', 'app/compose.yml': real, 'app/.env': 'RELEASE_TO_DEPLOY=527u01\n' },
      said: [edited.replace('f ', 'app/compose.yml ')],
    },
    {
      what: 'in a file that is included by another, and named',
      files: {
        f: 'include:\n  - path: [a.yml]\nservices: {redis: {image: redis:6}}\n',
        'a.yml': 'include: [app/compose.yml]\n',
        'app/compose.yml': literal,
      },
      options: { service: 'testops' },
      said: ['app/compose.yml services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'of what the service extends',
      files: {
        f: 'services:\n  testops: {extends: {file: common/base.yml, service: base}}\n',
        'common/base.yml': 'services: {base: {image: "r.io/testops:527u01"}}\n',
      },
      said: ['common/base.yml services.base.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'of what another extends, too',
      files: { f: `${literal}  worker: {extends: testops}\n` },
      options: { service: 'worker' },
      said: [
        'f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01',
        'the same line also sets the image of testops, so that image changes too',
      ],
    },
    {
      what: 'in what is elsewhere',
      files: { f: 'include:\n  - oci://r.io/app:1\n  - ${APP}/compose.yml\nservices: {redis: {image: redis:6}}\n' },
      said: [
        'REFUSED f has no service with image testops or testops-legacy; included files that are not on this ' +
          'machine were not read: oci://r.io/app:1, ${APP}/compose.yml. Nothing was changed',
        'testops-admin use-legacy-image --compose f --service redis',
      ],
    },
    {
      what: 'of a service that is extended elsewhere',
      files: { f: 'services:\n  testops: {extends: {file: "https://h/base.yml", service: base}}\n' },
      options: { service: 'testops' },
      said: [
        'REFUSED service testops in f line 2 extends a service in https://h/base.yml, a file that is not on ' +
          'this machine. Nothing was changed',
        'docker compose -f f config',
      ],
    },
    {
      what: 'an image that is built here',
      files: { f: literal.replace('  redis', '    build: .\n  redis') },
      said: [
        'REFUSED the image of service testops is built on this machine (`build`), so the image name does not ' +
          'show what the image contains. Nothing was changed',
        'change FROM in the Dockerfile, then build the image again',
      ],
    },
    {
      what: 'a registry with a port, in quotes, with Windows line ends',
      files: {
        f: literal.replace('r.io/testops:527u01', "'r.io:5000/a/testops:527u01' # ours").replaceAll('\n', '\r\n'),
      },
      said: ['f services.testops.image=r.io:5000/a/testops:527u01→r.io:5000/a/testops-legacy:527u01'],
    },
    {
      what: 'a service of a profile',
      files: { f: literal.replace('  redis', '    profiles: [app]\n  redis') },
      said: ['f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'an image by its anchor',
      files: { f: 'x-i: &i r.io/testops:527u01\nservices:\n  testops:\n    image: *i\n  worker: {image: *i}\n' },
      options: { service: 'testops' },
      said: ['f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'an image by a merge',
      files: { f: 'x-b: &b\n  image: r.io/testops:527u01\nservices:\n  testops:\n    <<: *b\n    restart: always\n' },
      said: ['f services.testops.image=r.io/testops:527u01→r.io/testops-legacy:527u01'],
    },
    {
      what: 'an image that bears an anchor',
      files: { f: 'services:\n  testops:\n    image: &i r.io/testops:527u01\n  worker: {image: *i}\n' },
      options: { service: 'testops' },
      said: [
        'REFUSED f line 3 cannot be edited safely: other parts of the file reuse services.testops.image ' +
          'through aliases: *i',
        'sed -n 3p f',
      ],
    },
    {
      what: 'done already',
      files: { f: literal.replace('testops:5', 'testops-legacy:5') },
      said: ['the image is already testops-legacy'],
    },
  ]
  test.each(cases)('$what', async ({ files, options = {}, said }) =>
    expect(await planned(files, options, 'compose')).toEqual(said),
  )
})

describe('an image', () => {
  test.each([
    ['testops', ['', 'testops', null, null]],
    ['r.io:5000/a/testops:1', ['r.io:5000/a/', 'testops', '1', null]],
    ['testops@sha256:ab', ['', 'testops', null, 'sha256:ab']],
    ['a/testops:1@sha256:ab', ['a/', 'testops', '1', 'sha256:ab']],
    ['${R:-r.io:5000/a}/testops:${V:-1}', ['${R:-r.io:5000/a}/', 'testops', '${V:-1}', null]],
    ['${R:-${S:-x/y}/z}/testops', ['${R:-${S:-x/y}/z}/', 'testops', null, null]],
    ['$R/testops:$V', ['$R/', 'testops', '$V', null]],
    ['${IMAGE}', null],
    ['a/${N}-x:1', null],
    ['', null],
  ])('%s', (text, parts) => {
    const image = parseImage(text)
    expect(image && [image.before, image.name, image.tag, image.digest]).toEqual(parts)
    if (image) expect(imageText(image)).toBe(text)
  })
  test.each([
    ['$V', { name: 'V', otherwise: null }],
    ['${V}', { name: 'V', otherwise: null }],
    ['${V-1}', { name: 'V', otherwise: '1' }],
    ['${V:-1}', { name: 'V', otherwise: '1' }],
    ['1-$V', null],
    ['${V}${W}', null],
  ])('the tag %s', (tag, variable) => expect(variableOf(tag)).toEqual(variable))
})
