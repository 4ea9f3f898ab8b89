import { traitsOf } from '../../knowledge/platforms.ts'
import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { typedOn } from '../../core/host.ts'
import type { ServiceImage } from '../../core/sources.ts'
import { images } from '../../knowledge/images.ts'
import { compareBuilds, firstLegacyBuild, isAtLeast, parseBuild } from '../../knowledge/builds.ts'
import { byHand, editConfiguration } from '../../domain/by-hand.ts'
import { serviceFails } from '../support/consequences.ts'
import { legacyImageCommands, runningIt } from '../../domain/legacy-image.ts'
import { judgeMachine } from '../../domain/processors.ts'
import { tolerant } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'

const correct = (deployment: Deployment): Remedy => ({
  text:
    `Set the declared name (${images.standard} or ${images.legacy}), tag and build to those of the image that ` +
    'should run. If the service now runs another image, restart the service.',
  commands: [traitsOf(deployment).isConfigured ? editConfiguration(deployment) : '{edit}', '{restart}'],
  risk: 'The service restarts.',
})
const proposeBuild = (deployment: Deployment, image: ServiceImage): Remedy => ({
  text:
    `Use build ${firstLegacyBuild.label} or later with ` +
    `${images.legacy}.${runningIt(deployment, image, { build: firstLegacyBuild.label })}`,
  commands: [...legacyImageCommands(deployment, image, { build: firstLegacyBuild.label }), byHand('service/image')],
})
const revert = (deployment: Deployment, image: ServiceImage): Remedy => ({
  text: `Go back to image ${images.standard}.${runningIt(deployment, image, { revert: true })}`,
  commands: [...legacyImageCommands(deployment, image, { revert: true }), byHand('service/image')],
  risk: 'The service restarts.',
})

export const serviceImage = defineCheck({
  id: 'service/image',
  title: 'image fits the build and the machines',
  reads: ['service'],
  explains: serviceFails,
  async run({ service }, deployment): Promise<Outcome> {
    const image = await service.image()
    const { name } = image
    if (name === null && image.tag === null)
      return { status: 'skipped', reason: `no image is declared in ${image.declaredIn}` }
    const build = parsed(image.build) ?? parsed(image.tag)
    const disagreement = disagreementOf(image)
    if (name === images.legacy && build && !isAtLeast(build, firstLegacyBuild)) {
      return problem(
        'error',
        `build ${build.label} has no image ${images.legacy}: the first build with that image is ` +
          `${firstLegacyBuild.label}`,
        image,
        proposeBuild(deployment, image),
      )
    }
    if (disagreement !== null) return problem('warning', disagreement, image, correct(deployment))
    if (name === images.legacy) {
      const verdicts = ((await tolerant(service.machines())) ?? []).map(judgeMachine)
      if (verdicts.length > 0 && verdicts.every(({ hasV3 }) => hasV3 === true)) {
        const names = verdicts.map(({ name: machine }) => machine).join(', ')
        return problem(
          'warning',
          `image ${images.legacy} is not needed: every machine supports x86-64-v3 (${names})`,
          image,
          revert(deployment, image),
          [...verdicts.flatMap((it) => [typedOn(it.name, 'grep -m1 ^flags /proc/cpuinfo'), `${it.name}: ${it.level}`])],
        )
      }
    }
    // a private registry may use any name
    if (name !== null && name !== images.standard && name !== images.legacy)
      return {
        status: 'skipped',
        reason: `cannot tell from its name whether image ${name} is ${images.standard} or ${images.legacy}`,
      }
    return { status: 'ok', detail: describe(image) }
  },
})

/** Returns what does not fit together in what is declared; null if all fits. */
function disagreementOf({ tag, build }: ServiceImage): string | null {
  const [declared, tagged] = [parsed(build), parsed(tag)]
  if (declared && tagged && compareBuilds(declared, tagged) !== 0)
    return `the deployment declares build ${build}, but its image has tag ${tag}`
  return null
}

function parsed(text: string | null): ReturnType<typeof parseBuild> {
  return text === null ? null : parseBuild(text)
}

function problem(
  severity: 'error' | 'warning',
  message: string,
  image: ServiceImage,
  remedy: Remedy,
  more: readonly string[] = [],
): Outcome {
  const finding: Finding = {
    message,
    evidence: [command`grep -nE '(image|version|build):' ${image.declaredIn}`, describe(image), ...more],
  }
  return { status: 'problem', severity, findings: [finding], remedy }
}

function describe({ name, tag, build }: ServiceImage): string {
  return `image ${name ?? '(not declared)'}, tag ${tag ?? '(not declared)'}, build ${build ?? '(not declared)'}`
}
