import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../adapters/make-folder.ts'
import { plainFile } from '../../adapters/open-file.ts'
import { replaceFile } from '../../adapters/replace-file.ts'
import { assertOwnFolder } from '../../adapters/trust/folder.ts'
import { codeOf, messageOf } from '../../core/error.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { stateHome } from '../paths.ts'
import type { Environment } from '../paths.ts'

/** Answers given to `init` for a file that is not written yet, by question. */
export interface KeptAnswers {
  /** Returns the answer of an earlier run, or this one; undefined if there is none */
  of(question: string): string | undefined
  /**
   * Keeps an answer. It is on disk on return, unless it holds a secret or the state folder cannot be written; `failure`
   * tells the latter. Never throws
   */
  keep(question: string, answer: string): Promise<void>
  /** Removes the answers once the file is written. Never throws */
  forget(): Promise<void>
  /** Returns the number of answers */
  count(): number
  /** Returns why they are not on disk; null if they are */
  failure(): string | null
}

const mostBytes = 100_000

/**
 * Returns the answers kept for one configuration file, `file`, in the state folder, for this user only. Never throws:
 * answers that cannot be read count as none.
 */
export async function keptAnswers(file: string, environment: Environment): Promise<KeptAnswers> {
  const folder = join(stateHome(environment), 'init')
  const path = join(folder, `${createHash('sha256').update(file).digest('hex').slice(0, 16)}.json`)
  const answers = new Map(await answersIn(folder, path).catch(() => []))
  let failed: string | null = null
  return {
    of: (question) => answers.get(question),
    async keep(question, answer) {
      if (answer !== withoutSecrets(answer)) return
      answers.set(question, answer)
      try {
        assertOwnFolder(folder, { toWrite: true })
        await makeFolder(folder)
        const from = await plainFile(path, mostBytes).catch(nullIfMissing)
        await replaceFile(path, {
          from,
          to: Buffer.from(`${JSON.stringify({ file, answers: Object.fromEntries(answers) })}\n`),
        })
        failed = null
      } catch (error) {
        failed = messageOf(error)
      }
    },
    forget: async () => rm(path, { force: true }).catch(() => undefined),
    count: () => answers.size,
    failure: () => failed,
  }
}

async function answersIn(folder: string, path: string): Promise<[string, string][]> {
  assertOwnFolder(folder)
  const document: unknown = JSON.parse((await plainFile(path, mostBytes)).toString())
  const answers: unknown =
    typeof document === 'object' && document !== null && 'answers' in document ? document.answers : {}
  return Object.entries(answers ?? {}).flatMap(([question, answer]) =>
    typeof answer === 'string' ? [[question, answer]] : [],
  )
}

function nullIfMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null
  throw error
}
