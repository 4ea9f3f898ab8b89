import { valueIn } from './edit-setting.ts'

/** Where a file was changed, and what stood there and stands there since, a character for each byte. */
interface Trace {
  path: string
  at: number
  was: string
  is: string
}

const mark = 'environment-file '

/** What has to be known to take a change of a file back to the byte; null: it is more than one place. */
export function traceOf(path: string, from: Buffer, to: Buffer): string | null {
  let at = 0
  while (at < from.length && at < to.length && from[at] === to[at]) at += 1
  let same = 0
  while (same < from.length - at && same < to.length - at && from[from.length - 1 - same] === to[to.length - 1 - same])
    same += 1
  const trace: Trace = {
    path,
    at,
    was: from.subarray(at, from.length - same).toString('latin1'),
    is: to.subarray(at, to.length - same).toString('latin1'),
  }
  // between two places that were taken away stands what is no part of it, and may be secret
  return trace.is !== '' && trace.was.includes('\n') ? null : `${mark}${JSON.stringify(trace)}`
}

/**
 * The file as it was before the change that was noted last, where it still is as that has left it there, and gives
 * `to`; null: it is not.
 */
export function traced(
  path: string,
  bytes: Buffer,
  { name, to }: { name: string; to: string | null },
  notes: readonly string[],
): Buffer | null {
  const trace = notes.flatMap(traceIn).findLast((it) => it.path === path)
  if (!trace) return null
  const text = bytes.toString('latin1')
  if (!text.startsWith(trace.is, trace.at)) return null
  const back = Buffer.from(`${text.slice(0, trace.at)}${trace.was}${text.slice(trace.at + trace.is.length)}`, 'latin1')
  return valueIn(back, name) === to ? back : null
}

function traceIn(note: string): Trace[] {
  if (!note.startsWith(mark)) return []
  try {
    const { path, at, was, is } = JSON.parse(note.slice(mark.length)) as Partial<Trace>
    return typeof path === 'string' && typeof at === 'number' && typeof was === 'string' && typeof is === 'string'
      ? [{ path, at, was, is }]
      : []
  } catch {
    return []
  }
}
