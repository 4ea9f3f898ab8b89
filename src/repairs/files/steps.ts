import type { Step } from '../../core/plan.ts'
import type { FilesSource } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import type { ValuesPlace } from './layout.ts'

/** A value to change, and where. */
export interface WantedEdit {
  file: string
  path: readonly string[]
  to: string | null
}

/** Returns one step for each file, which is replaced once. Throws REFUSED if an edit cannot be made. */
export async function editSteps(files: FilesSource, wanted: readonly WantedEdit[]): Promise<Step[]> {
  const byFile = [...new Set(wanted.map(({ file }) => file))]
  return Promise.all(
    byFile.map(async (file) => {
      const edits = await files.edits(
        file,
        wanted.filter((it) => it.file === file),
      )
      const what = edits
        .map(({ path, to }) =>
          to === null ? `remove ${path.join('.')}` : `set ${path.join('.')} to ${to === '' ? "''" : to}`,
        )
        .join(', ')
      return { title: `${what} in ${file}`, action: { kind: 'edit-values' as const, file, edits }, interrupts: false }
    }),
  )
}

export function editImpact(wanted: readonly WantedEdit[]): Record<string, number> {
  return wanted.length === 0 ? {} : { valuesChanged: wanted.length }
}

/** Says when an edit takes effect: with the next helm upgrade, or once the manifest is committed or applied. */
export function effectNote(values: readonly string[], { all }: ValuesPlace): string {
  if (all.length > 0) return 'only the file changes. It takes effect once the manifest is committed or applied'
  return `only the file changes. It takes effect with the next helm upgrade with ${typed(values.flatMap((file) => ['-f', file]))}`
}
