/** The width of what shows a text, and whether it understands colours. */
export interface Screen {
  columns: number
  colour: boolean
}

/** A screen for files, pipes and golden files. */
export const plainScreen: Screen = { columns: 80, colour: false }
