import type { Screen } from '../screen.ts'

export interface DoctorView {
  screen: Screen
  exitCode: number
  /** lists what is healthy too where there are problems, and says all of it */
  verbose: boolean
}
