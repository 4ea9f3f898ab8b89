import { paintFor } from './paint.ts'
import type { Screen } from './screen.ts'
import { hang, pad, printable } from './text.ts'
import { command, nested } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { onDeployment } from '../core/typed.ts'

/** What `init --json` prints. */
export interface InitDocument {
  schemaVersion: 1
  /** that was written, absolute */
  file: string
  deployment: string
  platform: string
  /** what was found by itself */
  found?: string
  connections: readonly Connection[]
}

type Connection = { part: string } & (
  | { status: 'ok'; target: string }
  | { status: 'failed' | 'absent'; error: { code: string; message: string; suggestions: readonly Suggestion[] } }
)

const words = { ok: 'ok', failed: 'failed', absent: 'not known' } as const

/** How each part answered, and what was written. */
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
  return `${[...rows, '', ...hang('', `Written: ${printable(file)}`, screen.columns), command`Next: testops-admin doctor ${nested(onDeployment(deployment))}`].join('\n')}\n`
}

/** 3 where a part that is known does not answer: what is written may be wrong there. */
export function initExitCode({ connections }: InitDocument): 0 | 3 {
  return connections.some(({ status }) => status === 'failed') ? 3 : 0
}
