import type { RuleId } from '../../knowledge/result-rules.ts'
import type { Found, TestOfResult } from '../problem.ts'
import type { NameBlock } from '../read/name-blocks.ts'

/**
 * The work on some files of one directory. `previous`: they belong to an earlier run, whose parameters alone matter.
 */
export type Work = 'results' | 'containers' | 'sizes' | 'previous'

/** Owner of a source in a text that cannot be read as a result: it is not checked that the source is there. */
export const nobody = 0xffff_ffff

/** Some files of one directory. Plain data, like the types below: it is sent to threads. */
export interface Chunk {
  work: Work
  directory: string
  names: NameBlock
}

/** Settings for all chunks. */
export interface Wish {
  /** rules that are off */
  off: readonly RuleId[]
  /** names of parameters that may change */
  changing: readonly string[]
  /** true if there is an earlier run, so that the values of parameters are compared */
  isCompared: boolean
  /** hashes of an earlier run's parameters with their values, in ascending order; in memory that threads share */
  before: Float64Array
}

/** Findings of a chunk. `at` and `…Owners` are numbers of files in it; each `Float64Array` holds hashes. */
export interface Judged {
  bytes: number
  /** of the identity by which the service takes several results for one; NaN: in no group */
  identities: Float64Array<ArrayBuffer>
  /** of sources that name an attachment in the root */
  sources: Float64Array<ArrayBuffer>
  sourceOwners: Uint32Array<ArrayBuffer>
  /** of file names, without the path, in sources that are paths */
  bases: Float64Array<ArrayBuffer>
  /** of full name and parameter; `values`: of these and the value */
  parameters: Float64Array<ArrayBuffer>
  values: Float64Array<ArrayBuffer>
  parameterOwners: Uint32Array<ArrayBuffer>
  problems: readonly { at: number; rule: RuleId; found: Found; result: TestOfResult | null }[]
  /** number of problems of each rule, in the order of the rules */
  counts: Uint32Array<ArrayBuffer>
  unread: readonly { at: number; why: string }[]
  /** true if it is not known what all of these files name */
  isPartly: boolean
}
