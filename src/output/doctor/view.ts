import type { Screen } from '../screen.ts'

export interface DoctorView {
  screen: Screen
  exitCode: number
  /** Lists healthy checks even if there are problems, and shows every detail in full */
  verbose: boolean
}
