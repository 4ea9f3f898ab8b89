import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { ComposedImage, ServiceImage } from '../../../src/core/sources.ts'
import { useLegacyImage } from '../../../src/repairs/use-legacy-image.ts'
import { composed, fakeService, fileWorld, image } from '../../fakes/index.ts'

const file = '/srv/compose.yml'
const none = new AdminError('NOT_CONFIGURED', 'there is none')
const deployment = {
  name: 'prod',
  platform: 'compose',
  vendor: { prefix: 'VENDOR', package: 'P' },
  timeZone: null,
} as const

/** Titles of the steps, or why there is no plan. */
async function planned(
  declared: string,
  of: Partial<ServiceImage>,
  controllers: readonly { name: string; paused: boolean | null; pause: readonly string[] }[] = [],
  made: Partial<ComposedImage> = {},
): Promise<unknown> {
  const files = fileWorld({
    [file]: { 'services.testops.image': declared },
    '/srv/plain.yml': {},
    '/srv/override.yml': { 'services.testops.image': 'r/testops:527u02' },
  }).source
  const service = fakeService({ image: image(of), controllers: [...controllers], composed: composed(made) })
  const sources = { files, service, release: none, database: none, broker: none, logs: none, api: none }
  try {
    const { steps, risks, notes } = await useLegacyImage.plan(sources, deployment, {
      compose: file,
      build: null,
      revert: false,
      apply: true,
      deployment: 'prod',
    })
    // the run itself sees to that
    expect(notes.join()).not.toContain('docker compose')
    return [steps.map(({ action }) => action.kind), ...risks.map(({ name }) => name)]
  } catch (error) {
    if (error instanceof AdminError) return `${error.code} ${error.message}`
    throw error
  }
}

test.each([
  {
    what: 'the file is edited while the service is stopped',
    declared: 'r/testops:527u01',
    of: { files: [file] },
    said: [['fetch-image', 'stop-service', 'edit-values', 'start-service']],
  },
  {
    what: 'a file that was edited before is only made true',
    declared: 'r/testops-legacy:527u01',
    of: { files: [file] },
    said: [['fetch-image', 'stop-service', 'start-service']],
    made: { now: 'r/testops-legacy:527u01' },
  },
  {
    what: 'what is so already is left alone',
    declared: 'r/testops-legacy:527u01',
    of: { files: [file], name: 'testops-legacy' },
    said: [[]],
  },
  {
    what: 'a controller is a risk',
    declared: 'r/testops:527u01',
    of: { files: [file] },
    controllers: [{ name: 'autoheal', paused: null, pause: [] }],
    said: [['fetch-image', 'stop-service', 'edit-values', 'start-service'], 'controller'],
  },
  {
    what: 'an image that is built here is refused',
    declared: 'r/testops:527u01',
    of: { files: [file] },
    made: { isBuilt: true },
    said:
      'REFUSED the image of service testops is built on this machine (`build`), so the image name does not show ' +
      'what the image contains. Nothing was changed',
  },
  {
    what: 'an edit that changes another service is refused',
    declared: 'r/testops:527u01',
    of: { files: [file] },
    made: { others: ['services.worker.image'] },
    said: 'REFUSED this edit would also change services.worker.image. Nothing was changed',
  },
  {
    what: 'an edit that does not count is refused',
    declared: 'r/testops:527u01',
    of: { files: [file] },
    made: { then: 'r/testops:527u01' },
    said:
      'REFUSED with this edit, compose would start testops with image r/testops:527u01, not with ' +
      'r/testops-legacy:527u01: another file or a variable overrides the edit. Nothing was changed',
  },
  {
    what: 'an edit of what is not its image is refused',
    declared: 'r/testops:527u01',
    of: { files: [file] },
    made: { now: 'r/own:1', then: undefined },
    said:
      'REFUSED with this edit, compose would start testops with image r/own:1, not with testops-legacy: another ' +
      'file or a variable overrides the edit. Nothing was changed',
  },
  {
    what: 'what can only be tried in its place is known by the image that it is of',
    declared: 'r/${B}/testops:527u01',
    of: { files: [file] },
    made: { now: 'r/b/testops:527u01', then: undefined },
    said: [['fetch-image', 'stop-service', 'edit-values', 'start-service']],
  },
  {
    what: 'the file of another project is refused',
    declared: 'r/testops:527u01',
    of: { files: ['/opt/compose.yml'] },
    said: 'REFUSED deployment `prod` uses /opt/compose.yml, not /srv/compose.yml. Nothing was changed',
  },
  {
    what: 'another service of the file is refused',
    declared: 'r/testops:527u01',
    of: { files: [file], service: 'second' },
    said: 'REFUSED deployment `prod` runs as service second, but the edit is for service testops. Nothing was changed',
  },
  {
    what: 'a later file without an image is none in the way',
    declared: 'r/testops:527u01',
    of: { files: [file, '/srv/plain.yml'], service: 'testops' },
    said: [['fetch-image', 'stop-service', 'edit-values', 'start-service']],
  },
  {
    what: 'a file that a later one overrides is refused',
    declared: 'r/testops:527u01',
    of: { files: [file, '/srv/override.yml'] },
    said:
      'REFUSED /srv/override.yml also sets the image of testops and overrides /srv/compose.yml. ' +
      'Nothing was changed',
  },
  {
    what: 'a service that no file starts is refused',
    declared: 'r/testops:527u01',
    of: {},
    said:
      'REFUSED cannot tell whether deployment `prod` uses /srv/compose.yml: its compose files are unknown. ' +
      'Nothing was changed',
  },
])('$what', async ({ declared, of, controllers, made, said }) => {
  expect(await planned(declared, of, controllers, made)).toEqual(said)
})
