import { createHash } from 'node:crypto'
import { resultRules, ruleIds } from '../../knowledge/result-rules.ts'
import { jsonPieces } from '../text.ts'
import { printable } from '../text.ts'
import type { LintDocument, LintProblem } from './document.ts'
import { testOf } from './words.ts'

export interface SarifView {
  version: string
  /** The document's directory as an absolute file URL that ends in a slash */
  root: string
  exitCode: number
}

/**
 * Maximum number of results; GitHub refuses a run with more (its documentation, "SARIF results exceed one or more
 * limits")
 */
const mostResults = 25_000
/** Levels of lists and objects around a result */
const depthOfResults = 4
/** Name of the base that locations are relative to */
const base = 'RESULTS'

/**
 * Yields SARIF 2.1.0 (OASIS, sarif-v2.1.0-os) with the rules' texts, in pieces. Fingerprints do not depend on the
 * random names of result files, unless a result has no name.
 */
export function* lintSarif(document: LintDocument, { version, root, exitCode }: SarifView): Generator<string> {
  const counted = document.problems.slice(0, mostResults)
  const reasons = new Map(document.suppressed.map(({ rule, reason }) => [rule, reason]))
  const ignored = document.suppressed.flatMap(({ problems }) => problems).slice(0, mostResults - counted.length)
  const results = withFingerprints([...counted, ...ignored], reasons)
  const omitted = document.summary.error + document.summary.warning - counted.length
  const notifications = [
    ...document.undetermined.map(({ file, message }) => ({
      level: 'warning',
      message: { text: printable(message) },
      locations: [location(file)],
    })),
    ...(omitted > 0 ? [{ level: 'note', message: { text: `${omitted} more problems are not listed` } }] : []),
  ]
  const run = {
    tool: {
      driver: {
        name: 'testops-admin lint-results',
        version,
        rules: ruleIds.map((id) => ({
          id,
          shortDescription: { text: resultRules[id].title },
          fullDescription: { text: resultRules[id].effect },
          help: { text: resultRules[id].remedy },
          defaultConfiguration: { level: resultRules[id].severity },
        })),
      },
    },
    originalUriBaseIds: { [base]: { uri: root } },
    columnKind: 'utf16CodeUnits',
    invocations: [
      {
        executionSuccessful: document.undeterminedCount === 0,
        exitCode,
        ...(notifications.length > 0 && { toolExecutionNotifications: notifications }),
      },
    ],
    results,
  }
  yield* jsonPieces(
    { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] },
    depthOfResults,
  )
  yield '\n'
}

function withFingerprints(problems: readonly LintProblem[], reasons: ReadonlyMap<string, string>): object[] {
  const seen = new Map<string, number>()
  return problems.map((problem) => {
    const { rule, severity, file, place, message, effect, remedy, result, together } = problem
    const key = createHash('sha256')
      .update(JSON.stringify([rule, result?.fullName ?? result?.name ?? file, place ?? '']))
      .digest('hex')
      .slice(0, 32)
    const before = seen.get(key) ?? 0
    seen.set(key, before + 1)
    const test = testOf(result)
    return {
      ruleId: rule,
      ruleIndex: ruleIds.indexOf(rule),
      level: severity,
      message: {
        text: printable(
          [`${sentence(test === null ? message : `${test}: ${message}`)}`, sentence(effect), sentence(remedy)].join(
            ' ',
          ),
        ),
      },
      locations: [location(file, place)],
      ...(together &&
        together.length > 0 && {
          relatedLocations: together.map((it, id) => ({
            id: id + 1,
            ...location(it.file),
            message: { text: printable(it.name ?? it.file) },
          })),
        }),
      // an empty list says that the tool knows of suppressions, and this result has none (3.27.23)
      ...(reasons.size > 0 && { suppressions: suppressionsOf(reasons.get(rule)) }),
      partialFingerprints: { 'testRulePlace/v1': before === 0 ? key : `${key}:${before}` },
    }
  })
}

const suppressionsOf = (reason: string | undefined): object[] =>
  reason === undefined ? [] : [{ kind: 'external', justification: printable(reason) }]

function location(file: string, place?: string): object {
  const uri =
    file === '.'
      ? './'
      : file
          .replace(/\p{Surrogate}/gu, '\ufffd')
          .split('/')
          .map(encodeURIComponent)
          .join('/')
  const at = /^line (\d+)(?:, column (\d+))?/.exec(place ?? '')
  const region = at && {
    region: { startLine: Number(at[1]), ...(at[2] !== undefined && { startColumn: Number(at[2]) }) },
  }
  return {
    physicalLocation: { artifactLocation: { uri, uriBaseId: base }, ...region },
    ...(place !== undefined &&
      !at && { logicalLocations: [{ fullyQualifiedName: pointerOf(printable(place)), kind: 'value' }] }),
  }
}

/** Returns `labels[3].value` as a JSON pointer (RFC 6901), by which SARIF names places in JSON (3.33.5). */
function pointerOf(place: string): string {
  return `/${place
    .replace(/\[(\d+)\]/g, '.$1')
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replaceAll('.', '/')}`
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
