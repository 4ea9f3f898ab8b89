/**
 * Returns the lines that differ, marked - and +, without context. If a line has several values, shows only the part
 * that changes, since its neighbours may be secrets.
 */
export async function differenceOf(before: string, after: string): Promise<string> {
  const { diffLines } = await import('diff')
  // a last line that gains a line end is the same to its reader
  const changes = diffLines(closed(before), closed(after)).filter(({ added, removed }) => added || removed)
  const lines: string[] = []
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index]!
    const next = changes[index + 1]
    const [old, now] = change.removed
      ? [linesOf(change.value), next?.added ? linesOf(next.value) : []]
      : [[], linesOf(change.value)]
    if (change.removed && next?.added) index += 1
    const pairs = old.map((line, at) => narrowed(line, now[at] ?? ''))
    lines.push(
      ...pairs.map(([was]) => `- ${was}`),
      ...now.map((line, at) => `+ ${pairs[at]?.[1] ?? narrowed('', line)[1]}`),
    )
  }
  return lines.map((line) => `${line}\n`).join('')
}

function closed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

/**
 * Returns both lines without what they share on either side, up to the next comma or bracket, if they show a map or a
 * list on one line. Otherwise returns both unchanged.
 */
function narrowed(was: string, is: string): [string, string] {
  if (!/[[{]/.test((was + is).replaceAll(/\$\{[^}]*(\}|$)/g, (_, end) => (end === '' ? '{' : '')))) return [was, is]
  let from = 0
  while (from < Math.min(was.length, is.length) && was[from] === is[from]) from += 1
  const start = Math.max(was.slice(0, from).search(/(?<![^,[{])[^,[{]*$/), 0)
  let end = 0
  while (end < Math.min(was.length, is.length) - from && was.at(-1 - end) === is.at(-1 - end)) end += 1
  const middle = (line: string): string => line.slice(from, line.length - end)
  // an entry that came or went whole ends with its comma
  const isWhole = [was, is].some((line) => /,\s*$/.test(middle(line)))
  const tail = isWhole ? 0 : (/^[^,\]}]*/.exec(was.slice(was.length - end))?.[0].length ?? 0)
  const part = (line: string): string => {
    const shown = line
      .slice(start, line.length - end + tail)
      .replace(/,\s*$/, '')
      .trim()
    return shown === '' ? '…' : `${start > 0 ? '…' : ''}${shown}${end > tail ? '…' : ''}`
  }
  return [part(was), part(is)]
}
