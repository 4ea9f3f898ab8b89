/** Where the steps of a repair stand, for whoever makes them one by one. */
export function byHand(id: string): string {
  return `testops-admin explain ${id}   # the same by hand`
}
