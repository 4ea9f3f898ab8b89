/** What the journals say of one run, for `service/unfinished-repair` and `history`. */
export interface RunState {
  run: string
  repair: string
  by: string
  startedAt: string
  state: 'done' | 'undone' | 'refused' | 'failed' | 'interrupted' | 'unfinished'
  /** all of it was done, and these checks found an error afterwards */
  unhealthy?: readonly string[]
  /** steps that are done, of how many */
  done: number
  steps: number
  /** the step that was begun last and has no outcome */
  within: string | null
  /** that step starts the service, and everything before it is done */
  isAtStart?: true
  /** `undo` only closes it, since nothing of what it does can be taken back */
  onlyCloses?: true
}
