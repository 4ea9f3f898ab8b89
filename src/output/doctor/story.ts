import type { Remedy } from '../../core/check.ts'
import type { Paint } from '../paint.ts'
import { hang, pad, printable, widthOf } from '../text.ts'
import { badge, oneLine, statusWord } from './status.ts'
import type { Story } from './stories.ts'
import type { DoctorView } from './view.ts'

/** A root cause: what is wrong, the evidence, what follows from it, and the repair. */
export function storyLines({ root, explained, unjudged }: Story, { screen }: DoctorView, paint: Paint): string[] {
  const { columns } = screen
  const lines = [`${badge(statusWord(root), paint)}  ${paint.strong(root.id)}`]
  for (const { message, evidence } of root.findings ?? []) {
    lines.push(...hang('  ', printable(message), columns))
    for (const text of evidence)
      lines.push(...text.split(/\r?\n/).map((line) => paint.faint(`      ${printable(line)}`)))
  }
  if (explained.length > 0) {
    const width = Math.max(...explained.map(({ id }) => widthOf(id)))
    lines.push(
      '  It causes:',
      ...explained.flatMap((check) => hang(`      ${pad(check.id, width)}  `, oneLine(check), columns)),
    )
  }
  if (unjudged.length > 0)
    lines.push(...hang('  Not judged because of it: ', unjudged.map(({ id }) => id).join(', '), columns))
  return root.remedy ? [...lines, ...remedyLines(root.remedy, columns)] : lines
}

function remedyLines({ text, commands, risk, undo }: Remedy, columns: number): string[] {
  return [
    ...hang('  Repair: ', printable(text), columns),
    ...commands.map((command) => `      ${printable(command)}`),
    ...(risk ? hang('  Risk: ', printable(risk), columns) : []),
    ...(undo ? hang('  Undo: ', printable(undo), columns) : []),
  ]
}
