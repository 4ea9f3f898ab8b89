/** Where text is shown: how wide, and whether colours are understood. */
export interface Screen {
  columns: number
  colour: boolean
}

/** A screen for files, pipes and golden files. */
export const plainScreen: Screen = { columns: 80, colour: false }
