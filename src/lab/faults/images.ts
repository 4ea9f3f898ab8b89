import { images } from '../../knowledge/images.ts'
import type { Fault } from '../fault.ts'
import { nothing, notInDrills, serviceFails } from '../fault.ts'
import { restartLabService, waitUntilEnded, waitUntilServing } from '../service.ts'

export const cpuWithoutV3: Fault = {
  id: 'cpu-without-v3',
  kind: 'fault',
  title: 'the processor lacks x86-64-v3, which the standard image needs',
  repair: 'testops-admin use-legacy-image --values FILE',
  notInDrills: notInDrills.machine,
  cases: [
    {
      variant: null,
      made:
        "the service's machine gets a virtual processor without the flags of x86-64-v3, such as AVX2; the " +
        'service is restarted',
      expected: { exitCode: 1, problems: { 'service/cpu-level': 'error' }, allowedConsequences: serviceFails },
      changes: { processor: 'x86-64-v2' },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilEnded(lab)
      },
      revert: nothing,
    },
  ],
}

export const imageVersionMismatch: Fault = {
  id: 'image-version-mismatch',
  kind: 'fault',
  title: "the image's tag and the build in the configuration disagree",
  repair: "correct the configuration so that the image's tag and the build agree, then restart the service",
  cases: [
    {
      variant: null,
      made: 'in the configuration, the build is 527u01, but the image has the tag 526u03',
      expected: { exitCode: 2, problems: { 'service/image': 'warning' }, allowedConsequences: [] },
      quickest: [{ edit: 'testops-admin.yaml', so: 'set the tag of `image` to 527u01' }],
      changes: { declared: { image: 'registry.example.org/testops/testops:526u03' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}

export const legacyNeedless: Fault = {
  id: 'legacy-needless',
  kind: 'fault',
  title: 'the image for older processors runs, but no processor needs it',
  repair: 'testops-admin use-legacy-image --values FILE --revert',
  notInDrills: notInDrills.machine,
  cases: [
    {
      variant: null,
      made:
        `the configuration names image ${images.legacy}, and the service runs it on a machine whose processors ` +
        'support x86-64-v3',
      expected: { exitCode: 2, problems: { 'service/image': 'warning' }, allowedConsequences: [] },
      changes: {
        declared: { image: `registry.example.org/testops/${images.legacy}:527u01` },
        machine: { image: images.legacy },
      },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}

const build = '526u03'

export const legacyTooEarly: Fault = {
  id: 'legacy-too-early',
  kind: 'fault',
  title: 'the configuration names the image for older processors, but this build has no such image',
  repair: 'testops-admin use-legacy-image --values FILE',
  notInDrills: notInDrills.machine,
  cases: [
    {
      variant: null,
      made:
        `the configuration names image ${images.legacy} and build ${build}, but this image exists only for later ` +
        'builds',
      expected: { exitCode: 1, problems: { 'service/image': 'error' }, allowedConsequences: [] },
      changes: {
        declared: { image: `registry.example.org/testops/${images.legacy}:${build}`, build },
        machine: { image: images.legacy, build },
      },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}
