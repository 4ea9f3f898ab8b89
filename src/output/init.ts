import { paintFor, saying } from './paint.ts'
import type { Screen } from './paint.ts'
import { hang, pad, printable } from './text.ts'
import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { onDeployment } from '../core/typed.ts'

/** What `init --json` prints. */
export interface InitDocument {
  schemaVersion: 1
  /** Absolute path of the file that was written */
  file: string
  deployment: string
  platform: string
  /** What was found without being named */
  found?: string
  connections: readonly Connection[]
}

type Connection = { part: string } & (
  | { status: 'ok'; target: string }
  | { status: 'failed' | 'absent'; error: { code: string; message: string; suggestions: readonly Suggestion[] } }
)

const words = { ok: 'ok', failed: 'failed', absent: 'unknown' } as const

/** Returns how each part answered, and what was written. */
export function initText({ file, deployment, connections }: InitDocument, screen: Screen): string {
  const paint = paintFor(screen)
  const rows = connections.flatMap((it) => {
    const word = pad(words[it.status], 9)
    const shown = it.status === 'ok' ? paint.good(word) : it.status === 'failed' ? paint.bad(word) : word
    const [first = '', ...rest] = hang(
      `${word}  ${pad(it.part, 8)}  `,
      printable(it.status === 'ok' ? it.target : it.error.message),
      screen.columns,
    )
    return [first.replace(word, shown), ...rest]
  })
  const next = command`Next: testops-admin doctor ${nested(onDeployment(deployment))}`
  return `${[...rows, '', ...hang('', `Wrote ${printable(file)}`, screen.columns), next].join('\n')}\n`
}

/** Returns 3 if a known part does not answer, as what is written may be wrong there; else 0. */
export function initExitCode({ connections }: InitDocument): 0 | 3 {
  return connections.some(({ status }) => status === 'failed') ? 3 : 0
}

/** What `init --template --json` prints. */
export interface TemplateDocument {
  schemaVersion: 1
  template: string
  /** Omitted if the template is the same for all */
  deployment?: string
  /** Absolute paths of the files that were written */
  files: readonly string[]
  /** The rendered file, if none was written */
  text?: string
}

/** Returns what was written; the rendered file itself if no folder was named. */
export function templateOutput({ files, text }: TemplateDocument, { columns }: Screen): string {
  return text ?? `${files.flatMap((file) => hang('', `Wrote ${printable(file)}`, columns)).join('\n')}\n`
}

/** Returns where to begin. `configuration`: the file that commands read; null: there is none. */
export function beginText({ configuration }: { configuration: string | null }, screen: Screen): string {
  const { columns } = screen
  const say = saying(screen)
  const about =
    configuration === null
      ? say('There is no configuration yet: `doctor` finds a deployment on this machine or from it by itself.')
      : say(`The configuration is ${printable(configuration)}.`)
  const commands = [
    ['testops-admin doctor', say('says what is wrong, and changes nothing')],
    configuration === null
      ? ['testops-admin init', say('finds a deployment and writes a configuration')]
      : ['testops-admin deployments', say('lists the deployments of the configuration')],
    ['testops-admin explain TEXT', say('explains a message of a log, a fault or a check')],
    ['testops-admin lab up', say('starts a practice deployment that you may break')],
    ['testops-admin --help', say('lists all commands')],
  ] as const
  const width = Math.max(...commands.map(([typed]) => typed.length))
  return [
    ...hang(
      '',
      say('testops-admin finds what is wrong with a testops deployment, shows the evidence, and repairs it.'),
      columns,
    ),
    '',
    ...hang('', about, columns),
    '',
    say('Begin with:'),
    ...commands.map(([typed, says]) => `  ${typed.padEnd(width)}   # ${says}`),
  ]
    .map((line) => `${line}\n`)
    .join('')
}
