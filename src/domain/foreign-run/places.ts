import { AdminError } from '../../core/error.ts'
import type { RunHistory } from '../../core/run.ts'
import { notesOfStep } from '../../core/run-state.ts'
import type { Comparison } from './comparison.ts'

/** The content of a note about a changed file (`traceOf` in platforms/host); positions are in bytes. */
interface Trace {
  path: string
  at: number
  was: string
  is: string
}

/** Returns why notes of a setting would make undo write outside that setting's own lines; empty if none would. */
export async function unfitPlaces(
  { record: { plan }, events }: RunHistory,
  { open }: Pick<Comparison, 'open'>,
): Promise<string[]> {
  const found: string[] = []
  for (const [step, { action }] of plan.steps.entries()) {
    if (action.kind !== 'set-setting') continue
    for (const trace of notesOfStep(events, step).flatMap(traceIn))
      found.push(...(await ofTrace(trace, action.name, open)))
  }
  return found
}

function traceIn(note: string): Trace[] {
  const at = note.indexOf('{')
  return at < 0 ? [] : [JSON.parse(note.slice(at)) as Trace]
}

/** Checks that undo, which replaces `is` by `was`, leaves all other lines unchanged. */
async function ofTrace({ path, at, was, is }: Trace, name: string, open: Comparison['open']): Promise<string[]> {
  const read = await bytesIn(path, open)
  if (read === null) return []
  if (read.includes('\u{fffd}')) return [`${path} is not UTF-8: cannot tell where a note would change it`]
  // reading drops the end of the last line
  const text = `${read.toString('latin1')}\n`
  if (!text.startsWith(is, at)) return []
  const back = `${text.slice(0, at)}${was}${text.slice(at + is.length)}`
  return othersIn(back, name) === othersIn(text, name)
    ? []
    : [`a note would change lines of ${path} that do not set ${name}`]
}

/** Returns the bytes of a file; null if it is missing, so undo writes nothing. */
async function bytesIn(path: string, open: Comparison['open']): Promise<Buffer | null> {
  try {
    return Buffer.from((await (await open.files()).secret(path)).reveal(), 'utf8')
  } catch (error) {
    if (error instanceof AdminError && error.code === 'USAGE') return null
    throw error
  }
}

/** Returns all lines except those that set the setting. */
function othersIn(text: string, name: string): string {
  const lines = text.split('\n').filter(
    (line) =>
      !line
        .trim()
        .replace(/^export\s+/, '')
        .startsWith(`${name}=`),
  )
  return lines.join('\n').trimEnd()
}
