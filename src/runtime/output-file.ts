import { chmod, rename, rm, stat } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { assertReplaceable, editedAt, nextOf, notReplaced, writeSynced } from '../adapters/replace-file.ts'
import { AdminError } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** A file for a document, and its format. */
export interface OutputFile<F> {
  /** Absolute */
  path: string
  format: F
}

/** What `--output` of a command takes. */
interface OutputRules<F> {
  /** The format of each ending */
  endings: Readonly<Record<string, F>>
  /** A command that names files well */
  example: Suggestion
  /** Files that are read, and must not be replaced */
  inputs?: readonly string[]
}

/**
 * Returns the files that a document will be written to. Throws USAGE for an ending that names no format, the same file
 * twice, an input, and what is no file; FORBIDDEN, UNAVAILABLE if it cannot be written: better now than after long
 * work.
 */
export async function outputFiles<F>(
  names: readonly string[],
  { endings, example, inputs = [] }: OutputRules<F>,
): Promise<OutputFile<F>[]> {
  const outputs = await Promise.all(
    names.map(async (name): Promise<OutputFile<F>> => {
      const format = endings[extname(name).toLowerCase()]
      if (format === undefined)
        throw new AdminError(
          'USAGE',
          `--output ${name.slice(0, 200)}: the ending of the name chooses the format, but this one chooses none. ` +
            `Use ${Object.keys(endings).join(', ')}`,
          [example],
        )
      return { path: await outputFile(name), format }
    }),
  )
  const twice = outputs.find(({ path }, index) => outputs.findIndex((it) => it.path === path) !== index)
  if (twice) throw new AdminError('USAGE', `--output names ${twice.path} twice: name each file once`, [])
  await refuseInputs(outputs, inputs, example)
  return outputs
}

/** Throws USAGE if an output is a file that is read. `example`: a command that names files well. */
export async function refuseInputs(
  outputs: readonly Pick<OutputFile<unknown>, 'path'>[],
  inputs: readonly string[],
  example: Suggestion,
): Promise<void> {
  const read = await Promise.all(inputs.map(async (name) => linkedFrom(resolve(name)).catch(() => resolve(name))))
  const input = outputs.find(({ path }) => read.includes(path))
  if (input)
    throw new AdminError('USAGE', `--output names ${input.path}, which is to be read: name another file`, [example])
}

/**
 * Writes a document to each file, in one step: a reader finds the former document or this one. Tries all, and returns
 * why the first was not written and which others were not (FORBIDDEN, UNAVAILABLE); null: all are. The error is for the
 * caller to throw once it has printed its result, whose exit code is that of the error.
 */
export async function writeOutputFiles<F>(
  outputs: readonly OutputFile<F>[],
  textOf: (format: F) => string,
): Promise<AdminError | null> {
  const failures: { path: string; error: AdminError }[] = []
  for (const { path, format } of outputs)
    await writeOutput(path, textOf(format)).catch((error: unknown) => {
      if (!(error instanceof AdminError)) throw error
      failures.push({ path, error })
    })
  const [first, ...others] = failures
  if (!first || others.length === 0) return first?.error ?? null
  const { code, message, suggestions } = first.error
  const more = others.map(({ path }) => path).join(', ')
  return new AdminError(code, `${message}. Not written either: ${more}`, suggestions, { cause: first.error })
}

/**
 * Returns the absolute path of a file to write: where a link leads to, if it is one. Throws USAGE if something else has
 * that name; FORBIDDEN, UNAVAILABLE if the file cannot be written, as far as that shows without trying.
 */
async function outputFile(name: string): Promise<string> {
  const path = await linkedFrom(resolve(name))
  await assertReplaceable(path)
  return path
}

async function linkedFrom(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isFile())
      throw new AdminError('USAGE', `--output ${path} is not a file: give the name of a file`, [
        command`ls -ld ${path}`,
      ])
    return await editedAt(path)
  } catch (error) {
    // nothing has that name yet; of what else is wrong, `assertReplaceable` says what
    if (error instanceof AdminError) throw error
    return path
  }
}

/** As a redirection of a shell makes a file: programs of others read it */
const usualMode = 0o666

/**
 * Writes a file in one step: a reader finds the former text or this one, also if two programs write at once. An
 * existing file keeps its mode and owner. Throws FORBIDDEN, UNAVAILABLE.
 */
async function writeOutput(path: string, text: string): Promise<void> {
  const next = await nextOf(path)
  try {
    const before = await stat(path).catch(() => null)
    await writeSynced(next, text, before)
    if (before === null) await chmod(next, usualMode & ~process.umask())
    await rename(next, path)
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw notReplaced(path, error)
  }
}
