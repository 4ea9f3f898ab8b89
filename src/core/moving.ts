/** The progress of long work. */
export interface Moving {
  done: number
  total: number
  /** The plural: 'sessions' */
  unit: string
}
