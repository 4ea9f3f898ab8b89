import { createHash } from 'node:crypto'
import { open, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { plainFile } from '../../adapters/open-file.ts'
import { makeFolder, replaceFile, syncFolder, writeSynced } from '../../adapters/replace-file.ts'
import { assertOwnFolder, mendsOf, trustedByName, whyDistrusted } from '../../adapters/trust/assert.ts'
import { judgePath } from '../../adapters/trust/judge.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { asPath } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { exists } from '../configuration/find.ts'
import { readConfiguration } from '../configuration/load.ts'
import { configurationOf } from '../configuration/template.ts'
import type { Environment } from '../paths.ts'
import { stateHome } from '../paths.ts'
import type { Draft } from './judge.ts'

/**
 * Throws REFUSED if the file exists, so that an operator's work is never lost; CONFIGURATION if it would not be trusted
 * afterwards, because others could change it in its folder.
 */
export async function assertNew(file: string, environment: Environment): Promise<void> {
  if (await exists(file)) throw alreadyThere(file)
  if (!(await exists(dirname(file)))) return
  const { flaws } = judgePath(dirname(file))
  if (flaws.length === 0 || (await trustedByName(environment)).includes(file)) return
  throw new AdminError(
    'CONFIGURATION',
    `testops-admin would not trust a configuration in ${dirname(file)}: ${whyDistrusted(flaws)}`,
    ['--output FILE   # choose a FILE in a folder of your own', ...mendsOf(flaws)],
  )
}

/**
 * Writes a configuration that nobody else may read, and reads it back. Throws REFUSED if the file exists, FORBIDDEN,
 * UNAVAILABLE, CONFIGURATION if the written file is invalid, after removing it.
 */
export async function writeNew(file: string, name: string, draft: Draft, environment: Environment): Promise<void> {
  try {
    await writeSynced(file, configurationOf(name, draft))
    await syncFolder(dirname(file))
  } catch (error) {
    throw codeOf(error) === 'EEXIST'
      ? alreadyThere(file)
      : notWritten(file, error, '--output FILE   # in another folder')
  }
  try {
    await readConfiguration(file, { environment, workingDirectory: dirname(file) })
  } catch (error) {
    await rm(file)
    throw error
  }
}

function notWritten(file: string, error: unknown, next: Suggestion): AdminError {
  const code = codeOf(error)
  const isForbidden = code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
  const why = isForbidden
    ? 'this user may not write there'
    : code === 'ENOENT'
      ? 'the folder does not exist'
      : messageOf(error)
  return new AdminError(
    isForbidden ? 'FORBIDDEN' : 'UNAVAILABLE',
    `${file} cannot be written: ${why}`,
    [typed(['ls', '-ld', asPath(dirname(file))]), next],
    { cause: error },
  )
}

/**
 * Writes new files into a folder, which is made if it is missing: all of them or none. Throws REFUSED if one exists,
 * FORBIDDEN, UNAVAILABLE.
 */
export async function writeAllNew(folder: string, files: readonly { name: string; text: string }[]): Promise<string[]> {
  const paths = files.map(({ name }) => join(folder, name))
  for (const path of paths) if (await exists(path)) throw fileThere(path)
  const made: string[] = []
  let [at, topmost]: [string, string | undefined] = [folder, undefined]
  try {
    topmost = await makeFolder(folder)
    for (const [index, { text }] of files.entries()) {
      at = paths[index]!
      // of two programs that write at once, the first file decides which one goes on
      const file = await open(at, 'wx')
      made.push(at)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
    }
    await syncFolder(folder)
    return paths
  } catch (error) {
    for (const path of made) await rm(path, { force: true }).catch(() => undefined)
    await removeEmpty(folder, topmost).catch(() => undefined)
    throw codeOf(error) === 'EEXIST' ? fileThere(at) : notWritten(at, error, 'choose another folder for --output')
  }
}

/** Removes folders from this one up to `topmost`. Throws system errors, also if another program writes to one. */
async function removeEmpty(folder: string, topmost: string | undefined): Promise<void> {
  if (topmost === undefined) return
  for (let path = folder; ; path = dirname(path)) {
    await rmdir(path)
    if (path === topmost) return
  }
}

function fileThere(path: string): AdminError {
  return new AdminError('REFUSED', `${path} already exists. Nothing was written`, [
    typed(['ls', '-l', asPath(path)]),
    'choose another folder for --output',
  ])
}

function alreadyThere(file: string): AdminError {
  return new AdminError('REFUSED', `${file} already exists. Nothing was written`, [
    '--output FILE   # another file',
    typed(['mv', file, `${file}.old`]),
  ])
}

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
