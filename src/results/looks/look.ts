/** The reason why a value looks as if it changes in each run. */
export interface Look {
  /** such as 'a UUID' */
  what: string
  /** true if the value is a credential, which must not be shown */
  isSecret?: true
  /** true if another run on the same day has the same value */
  isOfDay?: true
}

/** A value to examine. `at`: when the test ran, in milliseconds since 1970; null if that is unknown. */
export interface Looked {
  text: string
  /** name of the parameter, or of the environment's entry */
  name: string
  at: number | null
}
