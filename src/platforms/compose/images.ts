import { seconds } from '../../adapters/failure.ts'
import type { FetchOptions, Moving } from '../../core/controls.ts'
import type { ErrorCode } from '../../core/error.ts'
import { AdminError } from '../../core/error.ts'
import { beginningWithoutSecrets } from '../../core/redaction/index.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import type { WantedImage } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import type { Engine } from './engine.ts'
import { engineFailure, jsonIn } from './engine.ts'
import type { View } from './view.ts'

interface Asked {
  engine: Pick<Engine, 'program'>
  asked: ShellCommand
  /** Both outputs, in lines of bounded length: patterns are matched to each */
  said: string
}

interface Cause {
  pattern: RegExp
  code: ErrorCode
  message: string
  next: readonly Suggestion[]
}

/**
 * Explains why an image could not be fetched, from the output of `docker pull` and `podman pull`; the texts are those
 * of `moby`, `containerd` and `containers/image`.
 */
export function notFetched(wanted: WantedImage, { engine, asked, said }: Asked): AdminError {
  // names that the operator gave must not look like the engine's words
  const words = said.replaceAll(wanted.image, 'IMAGE').replaceAll(withoutTag(wanted.image), 'IMAGE')
  if (isOfEngine(words))
    return engineFailure([engine.program, 'pull'], {
      exitCode: 1,
      signal: null,
      stdout: '',
      stderr: said,
      truncated: false,
    })
  const { image } = wanted
  const again = command`${nested(asked)}   # the command that failed`
  const cause = causesOf(wanted, engine).find(({ pattern }) => pattern.test(words))
  if (cause)
    return new AdminError(cause.code, `cannot fetch image \`${image}\`: ${cause.message}. Nothing was changed`, [
      ...cause.next,
      again,
    ])
  return new AdminError('FAILED', `cannot fetch image \`${image}\`: ${lastOf(said)}. Nothing was changed`, [again])
}

/** Returns the error for a fetch that this program stopped at its time limit. */
function lateFetch(
  { image }: WantedImage,
  { asked, timeoutMs, done, total }: { asked: ShellCommand; timeoutMs: number; done: number; total: number },
): AdminError {
  const far = total === 0 ? '' : ` (${done} of ${total} layers were fetched)`
  return new AdminError(
    'TIMED_OUT',
    `fetching image \`${image}\` timed out after ${seconds(timeoutMs)}${far}. Nothing was changed`,
    [
      command`${nested(asked)}   # continues without a time limit`,
      '--patience SECONDS   # gives the same command more time',
    ],
  )
}

const ofEngine = new RegExp(
  'cannot connect to the docker daemon|error during connect|cannot connect to podman|' +
    'permission denied(?:(?!permission denied).)*(?:daemon|socket)',
  'is',
)

/** True if the engine's daemon did not answer: its own answers begin with "Error response from daemon". */
function isOfEngine(words: string): boolean {
  return !/error response from daemon/i.test(words) && ofEngine.test(words)
}

const otherPlatform = new RegExp(
  'no matching manifest for|does not match the specified platform|no image found in (?:manifest list|image index)|' +
    String.raw`operating system "?[^"\n]{0,100}"? cannot be used`,
  'i',
)
const unreachable = new RegExp(
  'connection refused|no route to host|network is unreachable|connection reset|unexpected EOF|' +
    String.raw`\bEOF\b|proxyconnect|bad gateway|service unavailable|\b50[234]\b`,
  'i',
)
const unknownImage = new RegExp(
  'manifest unknown|manifest for .{0,400} not found|manifest_unknown|name unknown|name_unknown|' +
    'repository .{0,400}not found|: not found$',
  'im',
)

function causesOf({ image, platform }: WantedImage, { program }: Pick<Engine, 'program'>): readonly Cause[] {
  const registry = registryOf(image)
  const look = sentence`look in ${registry} for the image and its tag`
  return [
    {
      pattern: otherPlatform,
      code: 'REFUSED',
      message: `${registry} does not have this image for ${platform ?? "this engine's platform"}`,
      next: [look],
    },
    {
      pattern: /no space left on device|disk quota exceeded|not enough (?:free )?(?:disk )?space/i,
      code: 'FAILED',
      message: `${program} has no space left on its disk`,
      next: [command`${program} system df   # shows what uses the space`],
    },
    {
      pattern: /toomanyrequests|too many requests|rate limit/i,
      code: 'EXHAUSTED',
      message: `${registry} accepts no more requests for now`,
      next: [
        command`${program} login ${registry}   # registries often allow signed-in users more requests`,
        'wait, then run the same command again',
      ],
    },
    {
      pattern: /pull access denied|repository does not exist/i,
      code: 'UNAUTHENTICATED',
      message: `${registry} does not have this repository, or requires a login`,
      next: [command`${program} login ${registry}`, look],
    },
    {
      pattern: /unauthorized|no basic auth credentials|authentication required|invalid username\/password|\b401\b/i,
      code: 'UNAUTHENTICATED',
      message: `${registry} requires a login`,
      next: [command`${program} login ${registry}`],
    },
    {
      pattern: /denied|forbidden|insufficient_scope|authorization failed|\b403\b/i,
      code: 'FORBIDDEN',
      message: `${registry} does not allow this user to fetch this image`,
      next: [command`${program} login ${registry}   # as a user who may fetch this image`],
    },
    {
      pattern: /no such host|name resolution|server misbehaving|lookup \S{1,300} .{0,400}(?:i\/o timeout|timed out)/i,
      code: 'UNREACHABLE',
      message: `${program} cannot resolve the host name ${hostOf(registry)}`,
      next: [command`getent hosts ${hostOf(registry)}`],
    },
    {
      pattern: /x509:|tls: |certificate|server gave HTTP response to HTTPS client/i,
      code: 'UNREACHABLE',
      message: `${program} does not trust the certificate of ${registry}, or ${registry} does not use TLS`,
      next: [
        command`openssl s_client -connect ${registry.includes(':') ? registry : `${registry}:443`} </dev/null`,
        sentence`save the registry's certificate as /etc/docker/certs.d/${registry}/ca.crt, so that ${program} trusts
          it`,
      ],
    },
    {
      pattern: /timeout|timed out|deadline exceeded|awaiting headers/i,
      code: 'TIMED_OUT',
      message: `${registry} timed out`,
      next: [command`curl -m 10 -sSI https://${registry}/v2/`],
    },
    {
      pattern: unreachable,
      code: 'UNREACHABLE',
      message: `${program} cannot connect to ${registry}`,
      next: [command`curl -m 10 -sSI https://${registry}/v2/`],
    },
    {
      pattern: unknownImage,
      code: 'REFUSED',
      message: `${registry} does not have this image or tag`,
      next: [look],
    },
    {
      pattern: /invalid reference format|must be lowercase/i,
      code: 'REFUSED',
      message: `${program} rejects this image name`,
      next: ["check the service's `image` in the compose file"],
    },
  ]
}

/** Returns the registry: Docker Hub if the name begins with no host (distribution/reference, ParseNormalizedNamed). */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/')
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : 'docker.io'
}

function hostOf(registry: string): string {
  return registry.replace(/:\d+$/, '')
}

function withoutTag(image: string): string {
  return image.split('@')[0]!.replace(/:[^:/]*$/, '')
}

function lastOf(said: string): string {
  const line = said.trim().split('\n').at(-1)?.trim() ?? ''
  return line === '' ? 'the engine does not say why' : beginningWithoutSecrets(line, 300)
}

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
      said.push(line.length > lineLength ? beginningWithoutSecrets(line, lineLength) : line)
      if (said.length > mostLines) said.shift()
      const amount = layers.see(line)
      if (amount !== null) moving(amount)
    }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code !== 'UNEXPECTED_ANSWER') throw error
    failure = error
  }
  if (signal?.aborted)
    throw new AdminError('INTERRUPTED', `interrupted while ${engine.program} fetched image \`${wanted.image}\``)
  if (late.aborted) throw lateFetch(wanted, { asked, timeoutMs, ...layers.amount() })
  if (failure) throw notFetched(wanted, { engine, asked, said: said.join('\n') })
  const is = await platformOf(engine, wanted.image)
  if (is === null)
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `\`${asked}\` succeeded, but ${engine.program} has no image \`${wanted.image}\`. Nothing was changed`,
      [typed([engine.program, 'image', 'ls'])],
    )
  if (!(await isRunnable(view, wanted, is))) {
    const own = wanted.platform ?? (await engine.platform())
    throw new AdminError(
      'REFUSED',
      `image \`${wanted.image}\` is for ${is}, but ${engine.program} on this machine runs ${own}. Nothing was changed`,
      [
        command`${nested(asked)}   # the command that fetched the image`,
        sentence`publish an image for ${own ?? 'this platform'} in the registry`,
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
  throw new AdminError('REFUSED', `\`${image}\` is not a valid image name. Nothing was changed`, [
    "check the service's `image` and `platform` in the compose file",
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
