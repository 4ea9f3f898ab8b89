import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isOnPath } from '../../adapters/network.ts'
import { openUnheld } from '../../adapters/open-file.ts'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'
import { sentence } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { wordsOf } from '../../platforms/index.ts'
import type { Node } from '../configuration/nodes.ts'
import { schema } from '../configuration/schema.ts'
import { requireApiToken, secretReader } from '../configuration/secrets.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import type { DraftSection, DraftValue } from '../configuration/template.ts'
import { configurationOf } from '../configuration/template.ts'
import { validate } from '../configuration/validate.ts'
import type { Discovered } from '../discover.ts'
import type { Environment } from '../paths.ts'

/** Keys of a deployment's section, each within the one before. */
export type Path = readonly [string, ...string[]]

interface JudgeOptions {
  /** What is judged, as errors name it: `--url`, `the answer` */
  subject: string
  /** Absolute path of the folder that relative files start from */
  directory: string
  environment: Environment
}

interface Judged {
  value: DraftValue
  /** What may keep the value from being used without showing it to be wrong; null if nothing does */
  doubt: string | null
}

/** Maximum characters of an answer; nothing that a configuration says is longer */
const mostCharacters = 1000

/**
 * Returns what an answer means at a key of a deployment. Throws CONFIGURATION, or USAGE for a secret, with what is
 * wrong and what is expected. Never repeats an answer that may be a secret.
 */
export async function judge(path: Path, answer: string, options: JudgeOptions): Promise<Judged> {
  const { subject, directory } = options
  const node = nodeAt(path)
  const wrong = (problem: string): AdminError =>
    new AdminError(
      'CONFIGURATION',
      `${subject} ${problem}`,
      'example' in node && node.example !== '' ? [sentence`for example: ${exampleOf(node)}`] : [],
    )
  const flaw = flawIn(answer)
  if (flaw !== null) throw wrong(flaw)
  switch (node.kind) {
    case 'secret':
      return { value: secretAt(answer, subject, directory), doubt: null }
    case 'file': {
      const { problem, doubt } = await judgeFile(resolve(directory, answer))
      if (problem !== null) throw wrong(problem)
      return { value: resolve(directory, answer), doubt }
    }
    case 'list': {
      const words = wordsOf(answer)
      const problem = await problemOfCommand(words, options)
      if (problem !== null) throw wrong(problem)
      return { value: words, doubt: null }
    }
    default: {
      const problem = problemAt(path, answer)
      // the remedy in the problem is for somebody who writes a configuration
      if (problem !== null)
        throw wrong(
          problem.replace(
            /(?<=^holds a password; remove it), and add .*/,
            subject.startsWith('--')
              ? `, and say with --${path[0]}-password where the password is kept`
              : ': the next question asks where the password is kept',
          ),
        )
      return { value: answer, doubt: null }
    }
  }
}

/** Returns what is wrong with the name of a deployment; null if nothing is. */
export function problemOfName(name: string): string | null {
  return flawIn(name) ?? schema.keys.deployments.problem(name)
}

/** Returns what is wrong with a text at a key of a deployment, in a few words that never repeat it; null if nothing. */
export function problemAt(path: Path, text: string): string | null {
  const node = nodeAt(path)
  return flawIn(text) ?? (node.kind === 'text' ? (node.problem?.(text) ?? null) : null)
}

/** Parses `env:NAME` or `file:PATH`. Throws USAGE, which never repeats the text: it may be the secret itself. */
function secretAt(text: string, subject: string, directory: string): { env: string } | { file: string } {
  const [, form, place = ''] = /^(env|file):(.+)$/.exec(text) ?? []
  if (form === 'env' && /^[A-Za-z_]\w*$/.test(place)) return { env: place }
  if (form === 'file') return { file: resolve(directory, place) }
  throw new AdminError(
    'USAGE',
    `${subject} must say where the secret is kept, and must not be the secret itself. Use env:NAME or file:PATH`,
    [typed([subject, 'env:NAME']), typed([subject, 'file:PATH'])],
  )
}

/** Checks that a secret can be read where an answer says that it is kept. Throws SECRET_MISSING. */
export async function assertSecret(
  path: Path,
  answer: string,
  { directory, environment }: JudgeOptions,
  timeoutMs: number,
): Promise<void> {
  const place = secretAt(answer, 'the answer', directory)
  const reference =
    'env' in place
      ? ({ at: answer, form: 'env', variable: place.env } as const)
      : ({ at: answer, form: 'file', path: place.file } as const)
  const secret = await secretReader({ environment, timeoutMs })(reference)
  if (path[0] === 'apiToken') requireApiToken(secret, reference)
}

function flawIn(text: string): string | null {
  if (text.trim() === '') return 'is empty'
  if (text.length > mostCharacters) return `is longer than ${mostCharacters} characters`
  return text === harmless(text) ? null : 'contains a character that cannot be displayed'
}

async function judgeFile(path: string): Promise<{ problem: string | null; doubt: string | null }> {
  try {
    const handle = await openUnheld(path)
    let isFile: boolean
    try {
      isFile = (await handle.stat()).isFile()
    } finally {
      await handle.close()
    }
    return { problem: isFile ? null : `does not name a regular file: ${path}`, doubt: null }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EACCES') return { problem: null, doubt: `this user may not read ${path}` }
    return {
      problem:
        code === 'ENOENT' || code === 'ENOTDIR'
          ? `names a file that does not exist: ${path}`
          : `names a file that cannot be read: ${messageOf(error)}`,
      doubt: null,
    }
  }
}

/** Returns what is wrong with a command, which runs without a shell and must start with a program; null if nothing. */
async function problemOfCommand(
  words: readonly string[],
  { directory, environment }: JudgeOptions,
): Promise<string | null> {
  const [program = ''] = words
  if (words.some((word) => /^(?:[|;&<>]+|\d?>.*)$|\$\(|`/.test(word)))
    return 'uses shell syntax, but runs without a shell. Put the command into a script'
  const isThere = program.includes('/')
    ? await access(resolve(directory, program), constants.X_OK).then(
        () => true,
        () => false,
      )
    : program !== '' && (await isOnPath(program, environment['PATH']))
  return isThere ? null : `starts a program that this machine cannot run: ${program}`
}

function exampleOf(node: Node): string {
  const example = 'example' in node ? node.example : ''
  return node.kind === 'list' ? example.replace(/^\[(.*)\]$/, '$1').replaceAll(', ', ' ') : example
}

function nodeAt(path: Path): Node {
  return path.reduce<Node>((outer, key) => {
    const node = outer.kind === 'list' ? outer.of : outer
    const inner = node.kind === 'section' ? node.keys[key] : undefined
    if (!inner) throw new TypeError(`the schema has no key ${path.join('.')}`)
    return inner
  }, schema.keys.deployments.of)
}

/** A deployment as a configuration will state it: plain text, secrets by where they are kept. */
export type Draft = DraftSection
export type { DraftValue } from '../configuration/template.ts'

/** Returns what was found, as a configuration would say it. */
export function draftOf({
  settings: { platform = 'host', host, compose, kubernetes },
}: Pick<Discovered, 'settings'>): Draft {
  const sections = {
    ...(host?.unit !== undefined && { host: { unit: host.unit } }),
    ...(compose && { compose: { ...compose, ...(compose.file && { file: compose.file.path }) } as DraftSection }),
    ...(kubernetes && { kubernetes: kubernetes as DraftSection }),
  }
  return { platform, ...sections }
}

/**
 * Returns the deployment that a configuration with this draft would have. `sourceOf`: where a key's value comes from,
 * because a draft has no lines yet to show. Throws CONFIGURATION if the schema does not allow it.
 */
export function selectedOf(
  name: string,
  draft: Draft,
  file: string,
  sourceOf: (path: readonly string[]) => string,
): SelectedDeployment {
  const { value } = parseYaml(configurationOf(name, draft))
  const settings = validate(schema, value, {
    at: (path) => sourceOf(path.slice(2).map(String)),
    directory: dirname(file),
  })
  return { name, settings: settings.deployments.get(name)!, file }
}
