import { AdminError } from '../../core/error.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import type { FetchOptions } from '../../core/controls.ts'
import type { WantedImage } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import { jsonIn } from './engine.ts'
import type { Engine } from './engine.ts'
import { engineFailure } from './failure.ts'
import { lateFetch, notFetched } from './fetch-failure.ts'
import type { View } from './view.ts'
import type { Moving } from '../../core/moving.ts'

/**
 * True if the engine has the image for a platform that it runs. That is the wanted platform, else the engine's own,
 * else that of the service's present image.
 */
export async function hasImage(view: View, wanted: WantedImage): Promise<boolean> {
  assertFetchable(wanted)
  const is = await platformOf(view.engine, wanted.image)
  return is !== null && (await isRunnable(view, wanted, is))
}

/** Last lines of output that are kept, and characters of each; a registry's own words are among them */
const [mostLines, lineLength] = [200, 500]

/**
 * Implements `ServiceControl.fetchImage`. The engine that the context or DOCKER_HOST names asks the registry, with the
 * login that `docker login` left.
 */
export async function fetchImage(
  view: View,
  wanted: WantedImage,
  { timeoutMs, signal, moving }: FetchOptions,
): Promise<void> {
  assertFetchable(wanted)
  const { engine } = view
  const words = fetchWords(wanted)
  const asked = typed([engine.program, ...words])
  const late = AbortSignal.timeout(timeoutMs)
  const said: string[] = []
  const layers = layersIn()
  let failure: AdminError | null = null
  try {
    for await (const line of engine.lines(words, signal ? AbortSignal.any([signal, late]) : late)) {
      // nothing would detect a secret that is cut in half
      said.push(line.length > lineLength ? withoutSecrets(line).slice(0, lineLength) : line)
      if (said.length > mostLines) said.shift()
      const amount = layers.see(line)
      if (amount !== null) moving(amount)
    }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code !== 'UNEXPECTED_ANSWER') throw error
    failure = error
  }
  if (signal?.aborted)
    throw new AdminError('INTERRUPTED', `interrupted while ${engine.program} fetched ${wanted.image}`)
  if (late.aborted) throw lateFetch(wanted, { asked, timeoutMs, ...layers.amount() })
  if (failure) throw notFetched(wanted, { engine, asked, said: said.join('\n') })
  const is = await platformOf(engine, wanted.image)
  if (is === null)
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `\`${asked}\` succeeded, but ${engine.program} has no image ${wanted.image}. Nothing was changed`,
      [typed([engine.program, 'image', 'ls'])],
    )
  if (!(await isRunnable(view, wanted, is))) {
    const own = wanted.platform ?? (await engine.platform())
    throw new AdminError(
      'REFUSED',
      `image ${wanted.image} is for ${is}, but ${engine.program} on this machine runs ${own}. Nothing was changed`,
      [
        command`${nested(asked)}   # what was fetched`,
        sentence`publish the image in the registry for ${own ?? 'that platform'}`,
      ],
    )
  }
}

function fetchWords({ image, platform }: WantedImage): string[] {
  return ['pull', ...(platform === null ? [] : ['--platform', platform]), image]
}

/** Rejects names that an engine could read as a flag: a plan may come from another machine. Throws REFUSED. */
function assertFetchable({ image, platform }: WantedImage): void {
  if (
    /^[A-Za-z0-9][\w./:@-]{0,1000}$/.test(image) &&
    (platform === null || /^[A-Za-z0-9][\w./-]{0,100}$/.test(platform))
  )
    return
  throw new AdminError('REFUSED', `${image} is not a valid image name. Nothing was changed`, [
    'look at `image` and `platform` of the service in the compose file',
  ])
}

/** Returns the image's platform, as `linux/amd64`; null if the engine does not have the image. */
async function platformOf(engine: Engine, image: string): Promise<string | null> {
  const words = ['image', 'inspect', image] as const
  const result = await engine.ask(words)
  if (result.exitCode === 0) {
    const [shown] = (jsonIn(result.stdout) ?? []) as { Os?: string; Architecture?: string }[]
    return `${shown?.Os ?? ''}/${shown?.Architecture ?? ''}`
  }
  if (/no such image|image not known|no such object/i.test(`${result.stderr}${result.stdout}`)) return null
  throw engineFailure([engine.program, ...words], result)
}

/** True if the engine runs it. Some, as a desktop's, run foreign platforms too: one that has run there is accepted. */
async function isRunnable({ engine, ...view }: View, { platform }: WantedImage, is: string): Promise<boolean> {
  const own = platform ?? (await engine.platform())
  if (own === null || isSamePlatform(own, is)) return true
  if (platform !== null) return false
  const [container] = (await view.containers()).own
  const before = container ? await platformOf(engine, container.image) : null
  return before !== null && isSamePlatform(before, is)
}

/** True if two platforms are the same; ignores variants such as `arm64/v8`, and a missing part fits any. */
function isSamePlatform(one: string, other: string): boolean {
  const [first, second] = [one, other].map((it) => it.split('/'))
  return [0, 1].every((at) => !first?.[at] || !second?.[at] || first[at] === second[at])
}

interface LayerCount {
  /** Counts a line; null if it is about no layer */
  see(this: void, line: string): Moving | null
  amount(this: void): { done: number; total: number }
}

/** Counts the layers of an image by the lines of `docker pull` or `podman pull`. */
export function layersIn(): LayerCount {
  const all = new Set<string>()
  const done = new Set<string>()
  return {
    see(line) {
      const [, layer, state = ''] =
        /^([0-9a-f]{12}): (.*)$/.exec(line) ??
        /^Copying (?:blob|config) (?:sha256:)?([0-9a-f]{10,64}) ?(.*)$/.exec(line) ??
        []
      if (layer === undefined) return null
      all.add(layer)
      if (/^(?:Pull complete|Already exists|done)/.test(state)) done.add(layer)
      return { done: done.size, total: all.size, unit: 'layers' }
    },
    amount: () => ({ done: done.size, total: all.size }),
  }
}
