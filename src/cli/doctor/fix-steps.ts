import { checks } from '../../checks/index.ts'
import type { CheckReport, DoctorReport } from '../../core/check.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { typedWords } from '../../core/typed.ts'
import { isOwnCheck } from '../../knowledge/check-ids.ts'
import { tell } from '../../output/doctor/verdict.ts'

/** Repairs that `doctor --fix` carries out, by the names that `--repairs` takes: the command's words, joined. */
export const fixes = [
  'flush-sessions',
  'migrate-trees',
  'reset-queues',
  'resume',
  'service-restart',
  'service-start',
  'set-env',
  'unlock-changelog',
  'use-legacy-image',
] as const
export type Fix = (typeof fixes)[number]

/** What comes next for the first problem of a report. */
export interface FixStep {
  root: CheckReport
  /** As the report prints it; null: the remedy has no command */
  command: Suggestion | null
  /**
   * `repair`: carried out; `decision`: it accepts a risk, adopts a run or deletes something, which only a person
   * decides; `wait`: something is under way; `by-hand`: all else
   */
  does: 'repair' | 'decision' | 'wait' | 'by-hand'
  /** Of a repair */
  fix?: Fix
  /** Of a repair: the words after the program's name */
  words?: readonly string[]
}

/** What only a person decides, by flags and by commands. */
const decidingFlags = ['--accept-risk', '--adopt', '--discard-messages']
const decidingCommands = ['discard', 'undo', 'apply']

/**
 * Returns the step for each root cause, in the order in which they are repaired; warnings only if asked for. What keeps
 * the service from starting and takes a person comes first: until then, a repair that restarts the service could not
 * end. Then an unfinished repair, which the others would wait for; what needs time comes last.
 */
export function stepsOf(report: Pick<DoctorReport, 'checks'>, withWarnings: boolean): FixStep[] {
  const roots = tell(report).stories.map(({ root }) => root)
  const unfinished = roots.find(({ id }) => id === 'service/unfinished-repair')
  const steps = roots
    .filter(({ severity }) => severity === 'error' || withWarnings)
    .map(stepOf)
    .map((step) => (step.fix === 'resume' && unfinished ? { ...step, root: unfinished } : step))
  return steps.toSorted((one, other) => turnOf(one) - turnOf(other))
}

function turnOf(step: FixStep): number {
  const waits = step.does === 'wait'
  if (isInTheWay(step)) return waits ? 2 : 0
  return step.fix === 'resume' ? 1 : waits ? 4 : 3
}

const catalogue = new Map(checks.map((check) => [check.id, check]))

function isInTheWay({ does, root: { id, severity } }: FixStep): boolean {
  return does !== 'repair' && severity === 'error' && catalogue.get(id)?.explains?.includes('service/running') === true
}

function stepOf(root: CheckReport): FixStep {
  const command = root.remedy?.commands.find((line) => !line.startsWith('#')) ?? null
  const [program, ...words] = (command !== null && typedWords(command)) || []
  // what it names was written for a person, not checked against what it would do here
  if (program !== 'testops-admin' || isOwnCheck(root.id)) return { root, command, does: 'by-hand' }
  const given = words.map((word) => word.replace(/=.*/s, ''))
  if (decidingCommands.includes(words[0] ?? '') || given.some((word) => decidingFlags.includes(word)))
    return { root, command, does: 'decision' }
  if (words[0] === 'doctor') return { root, command, does: 'wait' }
  const name = words[0] === 'service' ? words.slice(0, 2).join('-') : words[0]
  const fix = fixes.find((it) => it === name)
  // a file that is edited changes nothing until a person upgrades
  const isOfFile = fix === 'use-legacy-image' || given.includes('--values')
  return fix === undefined || (isOfFile && !given.includes('--apply'))
    ? { root, command, does: 'by-hand' }
    : { root, command, does: 'repair', fix, words }
}
