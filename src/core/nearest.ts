/** The known names that a mistyped one may stand for, nearest first, three at most; none where nothing is near. */
export function nearestNames(typed: string, known: Iterable<string>): string[] {
  const wanted = typed.toLowerCase()
  return [...known]
    .map((name) => ({ name, distance: nearness(wanted, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}

function nearness(wanted: string, name: string): number {
  return wanted.length >= 3 && name.includes(wanted) ? 1 : editDistance(wanted, name)
}

/** Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    const previous = rows[row - 1] ?? []
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Infinity,
      )
    }
    rows.push(current)
  }
  return rows[from.length]?.[to.length] ?? 0
}
