import { agentCounts, isFilesBeforeAgent, signatures } from '../signatures.ts'
import type { SignatureId } from '../signatures.ts'
import type { ExplainEntry } from './entry.ts'
import { command, nested } from '../../core/shell-command.ts'

interface SignatureText {
  meaning: string
  cause: string
  /** the entry that tells what is behind it, and what to do */
  behind: string
  log?: string
}

/** Those that bear the name of a fault are told of there. */
type ToldHere = Exclude<SignatureId, 'unknown-host' | 'transient-refused' | 'token-refused' | 'pool-exhausted'>

const texts: Readonly<Record<ToldHere, SignatureText>> = {
  'http-failed': {
    meaning:
      'A call of the service to an external system failed on the way: there was no connection, or it broke. ' +
      'The service logs this line with debug logging of integrations.',
    cause: 'The external system cannot be reached, or its API has changed.',
    behind: 'integration-400',
  },
  'bad-request': {
    meaning: 'An external system answered a call of the service with 400: it does not understand the request.',
    cause: 'The API of the external system has changed.',
    behind: 'integration-400',
  },
  'lock-waiting': {
    meaning:
      'Liquibase found the change-log lock taken. It asks again every 10 seconds, for 5 minutes unless set ' +
      'otherwise. Once is harmless. If the line comes again and again, the holder works for long, or is dead.',
    cause: 'Another instance holds the lock, or an instance that ended abruptly left it locked.',
    behind: 'stuck-lock',
  },
  'lock-refused': {
    meaning:
      'Liquibase waited for the change-log lock in vain, so the service failed to start. The line names the ' +
      'holder, and since when it holds the lock in the local time of the service.',
    cause: 'The holder is dead, or works for longer than the service waits.',
    behind: 'stuck-lock',
  },
  'lock-taken': {
    meaning:
      'The service holds the change-log lock, and may change its database. This is normal for a start with ' +
      'something to change. You need to do nothing.',
    cause: 'The service was started.',
    behind: 'database/changelog-lock',
  },
  'lock-released': {
    meaning:
      'The service has released the change-log lock. Every start ends like this, whether it had something to ' +
      'change or not. Right before "Could not acquire change log lock" it means something else: see lock-stolen.',
    cause: 'The service was started, and made its changes.',
    behind: 'database/changelog-lock',
  },
  'precondition-failed': {
    meaning:
      'The broker refuses to declare a queue or exchange, because it already exists with another value of an ' +
      'argument. The line names the queue, the argument and both values.',
    cause: 'The setting VENDOR_RABBIT_DURABLE differs from the one that the queues were declared with.',
    behind: 'durable-mismatch',
  },
  'cpu-level': {
    meaning:
      'The C library in the image refused the processor before the service began. This is the first and only ' +
      'line of that container, and it has no time.',
    cause: 'The processor lacks x86-64-v3, or the hypervisor hides it.',
    behind: 'cpu-without-v3',
  },
  csrf: {
    meaning: 'The service answered a call of a browser with 401, because its session is not valid.',
    cause: 'The session in the store is expired, or not yet active.',
    behind: 'stale-sessions',
  },
  conflict: {
    meaning:
      'A test case was not moved, because the project holds an automated test case with the same metadata. Nothing is broken.',
    cause: 'Results were imported into the project again after the test case was moved out of it.',
    behind: 'duplicate-move',
  },
  'out-of-memory': {
    meaning: 'The JVM of the service has no memory left. From then on, any part of it may fail, until you restart it.',
    cause: 'The memory limit of the container, unit or machine, or the heap of the JVM, is too small for its work.',
    behind: 'service/crashes',
  },
  'agent-counts': {
    meaning:
      'An agent (a plugin of a build server, or the uploader) reports how many files it has found, indexed ' +
      'and processed. If it has processed all of them, you need to do nothing.',
    cause:
      'An upload has ended. If files were indexed, none was processed, and errors are above 0, the files ' +
      'were there before the agent started.',
    behind: 'files-before-agent',
    log: 'AGENT_LOG',
  },
  'agent-nothing-indexed': {
    meaning: 'An agent found no result file that it could use, so it uploads nothing.',
    cause: 'The results directory is wrong or empty.',
    behind: 'empty-results',
    log: 'AGENT_LOG',
  },
}

/** Of each line that is known in logs. */
export const signatureEntries: readonly ExplainEntry[] = signatures.flatMap(
  ({ id, title, severity, pattern, remedy, source }) => {
    if (!isToldHere(id)) return []
    const { meaning, cause, behind, log = 'SERVICE_LOG' } = texts[id]
    const look = {
      text: 'See what is behind it, how to make sure, and what to do.',
      commands: [command`testops-admin explain ${behind}`],
    }
    return {
      id,
      kind: 'signature',
      title,
      severities: severity === 'info' ? [] : [severity],
      meaning,
      causes: [cause],
      verify: [
        'testops-admin scan-logs',
        command`grep -E${nested(pattern.ignoreCase ? 'i' : '')} ${pattern.source} ${log} | tail`,
      ],
      remedies: remedy === null ? [look] : [look, { text: 'Once you have made sure, run this.', commands: [remedy] }],
      source,
      signatures: [id],
      see: [behind],
    }
  },
)

function isToldHere(id: SignatureId): id is ToldHere {
  return id in texts
}

/** Whether a line of an agent's log tells of files that were there before it. */
export function tellsOfEarlierFiles(log: string): boolean {
  const { pattern } = signatures.find(({ id }) => id === 'agent-counts')!
  return log
    .toLowerCase()
    .split('\n')
    .some((line) => pattern.test(line) && isFilesBeforeAgent(agentCounts(line)))
}
