import { ruleIds } from '../../knowledge/result-rules.ts'
import { choice, file, list, named, oneOrMany, section, text, whole } from '../configuration/nodes.ts'
import { didYouMean } from '../../core/nearest.ts'

/** How a rule may be judged. */
export const levels = ['off', 'warning', 'error'] as const
export type Level = (typeof levels)[number]

/** What the settings of `lint-results` may say. */
export const lintSchema = section('settings of lint-results', {
  rules: named('how rules are judged', 'rules', choice('how the rule is judged', 'warning', levels), ruleProblem),
  'max-warnings': whole('exit with 1 if there are more warnings than this', '0'),
  previous: file('results directory of an earlier run, to compare with', 'build/previous-results'),
  'agent-log': oneOrMany('logs of the agent that uploads', 'agent.log', file('a log of the agent', 'agent.log')),
  changing: list(
    'names of parameters and environment entries that may change from run to run',
    'started',
    text('a name', 'started'),
  ),
})

function ruleProblem(name: string): string | null {
  if ((ruleIds as readonly string[]).includes(name)) return null
  const hint = didYouMean(name, ruleIds)
  return `is not a rule${hint ? `; ${hint}` : `: ${ruleIds.join(', ')}`}`
}
