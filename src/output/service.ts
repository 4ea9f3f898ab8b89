import { moment } from '../core/format.ts'
import type { PlatformName } from '../core/deployment.ts'
import type { ServiceImage, ServiceInstance, ServiceStatus } from '../core/sources.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { hang, printable } from './text.ts'

/** What `service status --json` prints. */
export interface ServiceDocument extends Omit<ServiceStatus, 'instances'> {
  schemaVersion: 1
  deployment: string
  platform: PlatformName
  instances: readonly (Omit<ServiceInstance, 'startedAt'> & { startedAt: string | null })[]
  image: ServiceImage
}

/** Returns 0 if the service runs, else 1. */
export function serviceExitCode({ state }: ServiceDocument): number {
  return state === 'running' ? 0 : 1
}

/** Returns the state in the platform's own words, then each instance and the image. */
export function serviceText(
  { deployment, state, detail, startsAgain, evidence = [], instances, image }: ServiceDocument,
  screen: Screen,
): string {
  const paint = paintFor(screen)
  const sign = state === 'running' ? paint.good('✔') : paint.bad('✖')
  const again = startsAgain === true ? ', about to be restarted' : ''
  const [first = '', ...more] = hang(
    '  ',
    `service of ${printable(deployment)}: ${state}${again}: ${printable(detail)}`,
    screen.columns,
  )
  const lines = instances.flatMap(({ name, host, pid, startedAt }) => {
    // a pod is its own host
    const parts = [
      ...(host === name ? [] : [`on ${printable(host)}`]),
      ...(pid === null || name.includes(String(pid)) ? [] : [`pid ${pid}`]),
      ...(startedAt === null ? [] : [`since ${moment(startedAt)}`]),
    ]
    return hang('  ', [printable(name), parts.join(', ')].filter(Boolean).join(': '), screen.columns)
  })
  const seen = evidence.flatMap((it) => hang('  ', printable(it), screen.columns))
  const declared = [
    image.name === null ? null : `${image.name}${image.tag === null ? '' : `:${image.tag}`}`,
    image.build === null ? null : `build ${image.build}`,
  ]
  const what = declared.filter((it) => it !== null).map(printable)
  const shown =
    what.length === 0 ? [] : hang('  ', `declared: ${what.join(', ')} (${printable(image.declaredIn)})`, screen.columns)
  return `${[`${sign} ${first.slice(2)}`, ...more, ...lines, ...seen, ...shown].join('\n')}\n`
}
