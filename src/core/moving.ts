/** How far a long work is. */
export interface Moving {
  done: number
  total: number
  /** the plural: 'sessions' */
  unit: string
}
