import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { WantedImage } from '../../core/sources.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { seconds } from '../../adapters/failure.ts'
import type { Engine } from './engine.ts'
import { engineFailure } from './failure.ts'

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
    return new AdminError(cause.code, `image ${image} was not fetched: ${cause.message}. Nothing was changed`, [
      ...cause.next,
      again,
    ])
  return new AdminError('FAILED', `image ${image} was not fetched: ${lastOf(said)}. Nothing was changed`, [again])
}

/** Returns the error for a fetch that this program stopped at its time limit. */
export function lateFetch(
  { image }: WantedImage,
  { asked, timeoutMs, done, total }: { asked: ShellCommand; timeoutMs: number; done: number; total: number },
): AdminError {
  const far = total === 0 ? '' : ` (${done} of ${total} layers were there)`
  return new AdminError(
    'TIMED_OUT',
    `image ${image} was not fetched within ${seconds(timeoutMs)}${far}. Nothing was changed`,
    [
      command`${nested(asked)}   # continues, with no time limit`,
      '--patience SECONDS   # gives the same command more time',
    ],
  )
}

/** True if the engine's daemon did not answer: its own answers begin with "Error response from daemon". */
function isOfEngine(words: string): boolean {
  if (/error response from daemon/i.test(words)) return false
  return /cannot connect to the docker daemon|error during connect|cannot connect to podman|permission denied(?:(?!permission denied).)*(?:daemon|socket)/is.test(
    words,
  )
}

function causesOf({ image, platform }: WantedImage, { program }: Pick<Engine, 'program'>): readonly Cause[] {
  const registry = registryOf(image)
  const look = sentence`look in ${registry} for the image and its tag`
  return [
    {
      pattern:
        /no matching manifest for|does not match the specified platform|no image found in (?:manifest list|image index)|operating system "?[^"\n]{0,100}"? cannot be used/i,
      code: 'REFUSED',
      message: `${registry} has it only for platforms other than ${platform ?? "this engine's"}`,
      next: [look],
    },
    {
      pattern: /no space left on device|disk quota exceeded|not enough (?:free )?(?:disk )?space/i,
      code: 'FAILED',
      message: `${program} has no space left on its disk`,
      next: [command`${program} system df   # shows what takes the space`],
    },
    {
      pattern: /toomanyrequests|too many requests|rate limit/i,
      code: 'EXHAUSTED',
      message: `${registry} accepts no more requests for now`,
      next: [
        command`${program} login ${registry}   # signed-in users may often fetch more`,
        'wait, then run the same command again',
      ],
    },
    {
      pattern: /pull access denied|repository does not exist/i,
      code: 'UNAUTHENTICATED',
      message: `${registry} has no such repository, or requires a login for it`,
      next: [command`${program} login ${registry}`, look],
    },
    {
      pattern: /unauthorized|no basic auth credentials|authentication required|invalid username\/password|\b401\b/i,
      code: 'UNAUTHENTICATED',
      message: `${registry} wants a login`,
      next: [command`${program} login ${registry}`],
    },
    {
      pattern: /denied|forbidden|insufficient_scope|authorization failed|\b403\b/i,
      code: 'FORBIDDEN',
      message: `${registry} does not allow this user to fetch it`,
      next: [command`${program} login ${registry}   # as a user who may`],
    },
    {
      pattern: /no such host|name resolution|server misbehaving|lookup \S{1,300} .{0,400}(?:i\/o timeout|timed out)/i,
      code: 'UNREACHABLE',
      message: `the name ${hostOf(registry)} does not resolve where ${program} runs`,
      next: [command`getent hosts ${hostOf(registry)}`],
    },
    {
      pattern: /x509:|tls: |certificate|server gave HTTP response to HTTPS client/i,
      code: 'UNREACHABLE',
      message: `${program} does not trust ${registry}, or ${registry} does not speak TLS`,
      next: [
        command`openssl s_client -connect ${registry.includes(':') ? registry : `${registry}:443`} </dev/null`,
        sentence`give ${program} the registry's certificate: /etc/docker/certs.d/${registry}/ca.crt`,
      ],
    },
    {
      pattern: /timeout|timed out|deadline exceeded|awaiting headers/i,
      code: 'TIMED_OUT',
      message: `${registry} timed out`,
      next: [command`curl -m 10 -sSI https://${registry}/v2/`],
    },
    {
      pattern:
        /connection refused|no route to host|network is unreachable|connection reset|unexpected EOF|\bEOF\b|proxyconnect|bad gateway|service unavailable|\b50[234]\b/i,
      code: 'UNREACHABLE',
      message: `${program} cannot connect to ${registry}`,
      next: [command`curl -m 10 -sSI https://${registry}/v2/`],
    },
    {
      pattern:
        /manifest unknown|manifest for .{0,400} not found|manifest_unknown|name unknown|name_unknown|repository .{0,400}not found|: not found$/im,
      code: 'REFUSED',
      message: `${registry} has no such image or tag`,
      next: [look],
    },
    {
      pattern: /invalid reference format|must be lowercase/i,
      code: 'REFUSED',
      message: `${program} says that this is not an image name`,
      next: ['look at `image` of the service in the compose file'],
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
  return line === '' ? 'the engine does not say why' : withoutSecrets(line).slice(0, 300)
}
