/** What is done: a repair, the owner's upgrade, or the undo of one of the repairs. */
export type Deed = 'set-env' | 'legacy' | 'upgrade' | `undo ${'set-env' | 'legacy'}`

/** Every order of the repairs, of as many upgrades and of one undo of each repair, which comes after it; each once. */
export function ordersOf(which: readonly ('set-env' | 'legacy')[], upgrades: number): Deed[][] {
  const extended = (before: readonly Deed[]): Deed[][] => {
    const count = before.filter((it) => it === 'upgrade').length
    const next: Deed[] = [
      ...which.filter((it) => !before.includes(it)),
      ...which.filter((it) => before.includes(it) && !before.includes(`undo ${it}`)).map((it): Deed => `undo ${it}`),
      ...(count < upgrades ? (['upgrade'] as const) : []),
    ]
    return next.length === 0 ? [[...before]] : next.flatMap((it) => extended([...before, it]))
  }
  return extended([])
}
