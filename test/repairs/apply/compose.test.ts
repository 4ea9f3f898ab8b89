import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { ServiceImage } from '../../../src/core/sources.ts'
import { useLegacyImage } from '../../../src/repairs/use-legacy-image.ts'
import { fakeService, fileWorld, image } from '../../fakes/index.ts'

const file = '/srv/compose.yml'
const none = new AdminError('NOT_CONFIGURED', 'there is none')
const deployment = { name: 'prod', platform: 'compose', vendor: { prefix: 'VENDOR', package: 'P' }, timeZone: null } as const

/** Titles of the steps, or why there is no plan. */
async function planned(declared: string, of: Partial<ServiceImage>, controllers: readonly { name: string; paused: boolean | null; pause: readonly string[] }[] = []): Promise<unknown> {
  const files = fileWorld({ [file]: { 'services.testops.image': declared }, '/srv/plain.yml': {}, '/srv/override.yml': { 'services.testops.image': 'r/testops:527u02' } }).source
  const service = fakeService({ image: image(of), controllers: [...controllers] })
  const sources = { files, service, release: none, database: none, broker: none, logs: none, api: none }
  try {
    const { steps, risks } = await useLegacyImage.plan(sources, deployment, { compose: file, build: null, revert: false, apply: true, deployment: 'prod' })
    return [steps.map(({ action }) => action.kind), ...risks.map(({ name }) => name)]
  } catch (error) {
    if (error instanceof AdminError) return `${error.code} ${error.message}`
    throw error
  }
}

test.each([
  { what: 'the file is edited while the service is stopped', declared: 'r/testops:527u01', of: { files: [file] }, said: [['stop-service', 'edit-values', 'start-service']] },
  { what: 'a file that was edited before is only made true', declared: 'r/testops-legacy:527u01', of: { files: [file] }, said: [['stop-service', 'start-service']] },
  { what: 'what is so already is left alone', declared: 'r/testops-legacy:527u01', of: { files: [file], name: 'testops-legacy' }, said: [[]] },
  { what: 'a controller is a risk', declared: 'r/testops:527u01', of: { files: [file] }, controllers: [{ name: 'autoheal', paused: null, pause: [] }], said: [['stop-service', 'edit-values', 'start-service'], 'controller'] },
  { what: 'the file of another project is refused', declared: 'r/testops:527u01', of: { files: ['/opt/compose.yml'] }, said: 'REFUSED deployment `prod` is started by /opt/compose.yml, and not by /srv/compose.yml: nothing was changed' },
  { what: 'another service of the file is refused', declared: 'r/testops:527u01', of: { files: [file], service: 'second' }, said: 'REFUSED deployment `prod` is the service second, and not testops: nothing was changed' },
  { what: 'a later file without an image is none in the way', declared: 'r/testops:527u01', of: { files: [file, '/srv/plain.yml'], service: 'testops' }, said: [['stop-service', 'edit-values', 'start-service']] },
  { what: 'a file that a later one overrides is refused', declared: 'r/testops:527u01', of: { files: [file, '/srv/override.yml'] }, said: 'REFUSED /srv/override.yml sets the image of testops too, and counts more than /srv/compose.yml: nothing was changed' },
  { what: 'a service that no file starts is refused', declared: 'r/testops:527u01', of: {}, said: 'REFUSED deployment `prod` is not known to be started by any file, and not by /srv/compose.yml: nothing was changed' },
])('$what', async ({ declared, of, controllers, said }) => {
  expect(await planned(declared, of, controllers)).toEqual(said)
})
