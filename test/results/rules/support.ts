import type { ResultContent, ResultFile } from '../../../src/results/result-file.ts'

/** A moment at which results of tests begin: 2026-11-22T10:00:00Z. */
export const begin = Date.UTC(2026, 10, 22, 10)

/** A result on which no rule has anything to say, with other fields where some are given. */
export function result(
  content: ResultContent = {},
  { file = 'one-result.json', directory = 'results' } = {},
): ResultFile {
  const whole = {
    uuid: 'one',
    name: 'logs in',
    fullName: 'shop.Login.logsIn',
    status: 'passed',
    start: begin,
    stop: begin + 1000,
    ...content,
  }
  return { directory, file, bytes: 1000, content: whole }
}
