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
      'A call of the service to an external system has failed on the way: no connection, or one that broke. The line is there with debug logging of integrations.',
    cause: 'The external system cannot be reached, or its API has changed.',
    behind: 'integration-400',
  },
  'bad-request': {
    meaning: 'An external system has answered a call of the service with 400: it does not understand the request.',
    cause: 'The API of the external system has changed.',
    behind: 'integration-400',
  },
  'lock-waiting': {
    meaning:
      'Liquibase has found the change-log lock taken, and asks again every 10 seconds, for 5 minutes unless set otherwise. Once is harmless; again and again means that the holder works for long, or is dead.',
    cause: 'Another instance holds the lock, or one that ended abruptly has left it.',
    behind: 'stuck-lock',
  },
  'lock-refused': {
    meaning:
      'Liquibase has waited for the change-log lock in vain, and the start of the service has failed. The line names who holds it, and since when in the local time of the service.',
    cause: 'The holder is dead, or works for longer than the service waits.',
    behind: 'stuck-lock',
  },
  'lock-taken': {
    meaning:
      'The service has got the change-log lock, and may change its database. That is how a start with something to change goes; nothing is to be done.',
    cause: 'The service was started.',
    behind: 'database/changelog-lock',
  },
  'lock-released': {
    meaning:
      'The service has given the change-log lock back. That is how a start ends, whether it had something to change or not. Right before "Could not acquire change log lock" it is another thing: see lock-stolen.',
    cause: 'The service was started, and has made its changes.',
    behind: 'database/changelog-lock',
  },
  'precondition-failed': {
    meaning:
      'The broker refuses to declare a queue or exchange that is there already with another value of an argument. The line names the queue, the argument and both values.',
    cause: 'The setting VENDOR_RABBIT_DURABLE differs from what the queues were made with.',
    behind: 'durable-mismatch',
  },
  'cpu-level': {
    meaning:
      'The C library in the image has refused the processor before the service began. It is the first and only line of that container, without a time.',
    cause: 'The processor, or what the hypervisor shows of it, lacks x86-64-v3.',
    behind: 'cpu-without-v3',
  },
  csrf: {
    meaning: 'A call of a browser was answered 401, since its session is not valid.',
    cause: 'The session in the store is expired, or not yet active.',
    behind: 'stale-sessions',
  },
  conflict: {
    meaning:
      'A test case was not moved: the project holds an automated test case with the same metadata. Nothing is broken.',
    cause: 'Results were imported into the project again after the test case had been moved out of it.',
    behind: 'duplicate-move',
  },
  'out-of-memory': {
    meaning:
      'The JVM of the service has no memory left. From then on anything in it may have failed, until it is restarted.',
    cause: 'The limit of the container, unit or machine, or the heap of the JVM, is too small for what it does.',
    behind: 'service/crashes',
  },
  'agent-counts': {
    meaning:
      'An agent (a plugin of a build server, or the uploader) tells how many files it has found, indexed and processed. With all of them processed nothing is to be done.',
    cause:
      'An upload has ended. Files indexed, none processed and errors above 0: they were there before the agent started.',
    behind: 'files-before-agent',
    log: 'AGENT_LOG',
  },
  'agent-nothing-indexed': {
    meaning: 'An agent has found no result file that it could take, so nothing is uploaded.',
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
      text: 'What is behind it, how to make sure, and what to do.',
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
      remedies: remedy === null ? [look] : [look, { text: 'Once that is made sure.', commands: [remedy] }],
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
