import type { AdminError } from './error.ts'
import type { Deployment } from './deployment.ts'
import type { SourceName, Sources } from './sources.ts'
import type { Suggestion } from './shell-command.ts'

export type Severity = 'error' | 'warning'

export interface Finding {
  message: string
  /** what a person can check with `psql`, `rabbitmqctl`, `redis-cli` or `curl`: the command, then what it showed */
  evidence: readonly string[]
}

/**
 * What the operator does about a problem. In it, as in the reason of a skipped check and in what an error suggests,
 * `{deployment}` stands for the deployment's name, and `{start}`, `{stop}`, `{restart}`, `{status}`, `{logs}`,
 * `{processes}`, `{settings}`, `{edit}` for what is typed on its platform.
 */
export interface Remedy {
  text: string
  commands: readonly Suggestion[]
  /** what it costs or endangers */
  risk?: string
  undo?: Suggestion
}

export type Outcome =
  | {
      status: 'ok'
      detail: string
      /** something legitimate is under way, which explains problems of the checks in `explains`: they become skipped */
      underway?: string
    }
  | {
      status: 'problem'
      severity: Severity
      findings: readonly [Finding, ...Finding[]]
      /** in place of the check's own remedy, where the situation needs another */
      remedy?: Remedy
      /**
       * the id of a check: if that has an error, it causes this problem, or what explains that error and is removed by
       * hand does; this problem explains no others then
       */
      follows?: string
      /** every repair is refused until this problem is gone */
      blocksRepairs?: boolean
      /** it has a reason of its own: no other problem causes it */
      isApart?: boolean
    }
  | { status: 'skipped'; reason: string }

/**
 * `unknown` is set by the runner alone, and so are `isUnopened` (the problem is that the check's own source cannot be
 * opened), and then `isOwn` (by this program's own login or secret: the service may have another) and
 * `isApart`. An error that is no `AdminError` is a bug of the check.
 */
export type Result =
  | (Outcome & { isUnopened?: boolean; isOwn?: boolean; isApart?: boolean })
  | { status: 'unknown'; error: unknown; because?: string }

/**
 * What a wanted source is where it cannot be had: the error says why, NOT_CONFIGURED where the deployment has no such
 * part.
 */
export type Wanted<T> = T | AdminError

/** A small pure judgement over some of the deployment's sources. Never prints, writes or repairs. */
export interface Check<R extends SourceName = SourceName, W extends SourceName = SourceName> {
  /** its path, `broker/queues-durable`; never renamed or reused */
  id: string
  /** the healthy state: 'queues are durable' */
  title: string
  /** the sources it gets; it sees no other */
  reads: readonly R[]
  /**
   * sources that sharpen the judgement and that it can do without: it gets the source, or the error that opening it
   * gave
   */
  wants?: readonly W[]
  /**
   * the source that this check stands for: where it cannot be opened, the runner reports that as this check's problem
   */
  guards?: SourceName
  /** what is done where that source cannot be opened, in place of `remedy`: another thing for each reason */
  unopened?: (error: AdminError, deployment: Deployment) => Remedy
  /** checks whose problems this one causes */
  explains?: readonly string[]
  /** false: that its source cannot be opened causes nothing, for what the source shows may well run */
  explainsUnopened?: boolean
  /** of the problems that bring none of their own */
  remedy?: Remedy
  run(sources: Pick<Sources, R> & { [K in W]: Wanted<Sources[K]> }, deployment: Deployment): Promise<Outcome>
}

/** Keeps the literal source names of a check, so that reading another source does not compile. */
export function defineCheck<const R extends SourceName, const W extends SourceName = never>(
  check: Check<R, W>,
): Check<R, W> {
  return check
}
