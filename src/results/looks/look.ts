/** Why a value looks as if it were another in each run. */
export interface Look {
  /** 'a UUID' */
  what: string
  /** the value is a credential, and not to be shown */
  isSecret?: true
  /** another run on the same day has the same value */
  isOfDay?: true
}

/** What is asked about a value; `at`: when the test ran, in milliseconds since 1970, null where it is not known. */
export interface Looked {
  text: string
  /** of the parameter, or of the entry of the environment */
  name: string
  at: number | null
}
