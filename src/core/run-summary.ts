/** What the journals say of one run, for `service/unfinished-repair` and `history`. */
export interface RunState {
  run: string
  repair: string
  by: string
  startedAt: string
  state: 'done' | 'undone' | 'refused' | 'failed' | 'interrupted' | 'unfinished'
  /** Checks that found an error after everything was done */
  unhealthy?: readonly string[]
  /** Number of steps that are done, of `steps` */
  done: number
  steps: number
  /** Title of the step that was begun last and has no outcome */
  within: string | null
  /** Set if that step starts the service, and everything before it is done */
  isAtStart?: true
  /** Set if `undo` only closes it, since nothing of what it does can be undone */
  onlyCloses?: true
}
