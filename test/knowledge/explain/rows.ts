/** A row of SPEC.md part 7, as it stands there, with the entry that an operator is to read. */
export interface Row {
  /** code or message; or symptom */
  said: string
  /** condition; or cause */
  condition: string
  finds: string
}

/** Both tables. */
export const rows: readonly Row[] = [
  {
    said: 'HTTP 409, message `Request failed with status code 409`',
    condition:
      'A test case is moved to another project that already holds an automated test case with the same ' +
      'metadata (all but `ID`). Example: results imported into project A create cases 1 and 2; case 2 is moved ' +
      'to project B; re-import into A creates case 3; moving case 2 back into A fails because case 3 is ' +
      'identical.',
    finds: 'duplicate-move',
  },
  {
    said: 'HTTP 401, message `Request failed with status code 401. The expected CSRF token could not be found`',
    condition:
      'Web sign-in fails because of a stale session in the session store (mixed time zones of server, user ' +
      'computer and VPN can create an expired or not-yet-active session).',
    finds: 'stale-sessions',
  },
  {
    said: '`Не удается установить соединение` (cannot establish connection)',
    condition:
      'An integration cannot reach the external system: wrong credentials, no connectivity, or the external ' +
      'API changed.',
    finds: 'cannot-connect',
  },
  {
    said: 'Fatal runtime error `CPU does not support x86-64-v3`',
    condition: 'From version 5.26 (build 526u03) the standard image needs the x86-64-v3 processor level.',
    finds: 'cpu-without-v3',
  },
  {
    said:
      'Start-up failure with a change-log lock error (`Could not acquire change log lock`, repeated `Waiting for ' +
      'changelog lock...`)',
    condition: 'Database lock left after an abrupt stop.',
    finds: 'stuck-lock',
  },
  {
    said: 'Broker failure: queue creation refused (message about `transient_nonexcl_queues`)',
    condition:
      'Broker version 4.3 or higher without quorum queues, while the service declares queues with ' +
      '`durable=false` by default.',
    finds: 'transient-refused',
  },
  {
    said: 'Broker error `PRECONDITION_FAILED` on argument `durable`',
    condition: 'The `durable` setting differs from an existing queue.',
    finds: 'durable-mismatch',
  },
  { said: 'Results are `Несвязанный`', condition: 'See part 3.', finds: 'no-identifier' },
  {
    said: 'Launch from a CI system is empty, or a launch from the service holds `В очереди` results',
    condition: 'Wrong or empty results directory path.',
    finds: 'empty-results',
  },
  {
    said: 'Agent log line reports files indexed greater than 0, processed 0, errors greater than 0',
    condition: 'Files were in the results directory before the agent started and nothing new was added.',
    finds: 'files-before-agent',
  },
  {
    said: 'Some results missing in a non-empty launch',
    condition: 'Tests are in quarantine (see part 3).',
    finds: 'quarantine',
  },
  { said: 'Result file ignored as a result', condition: 'File larger than 2,000,000 bytes.', finds: 'oversize-result' },
  {
    said: 'Results missing at import',
    condition: 'Network equipment or reverse-proxy timeouts, data-size limits or blocking rules.',
    finds: 'proxy-limits',
  },
  {
    said: 'Many result files, one result shown',
    condition: 'Identical full names across projects, or a parameterized test without parameters in results.',
    finds: 'name-collision',
  },
  {
    said: 'Tests stay `В очереди`',
    condition:
      'A parameter or environment variable (for example two variables) changes its value during the run, so ' +
      'the service waits for a result that never arrives.',
    finds: 'volatile-parameter',
  },
  {
    said: 'Attachments visible in the report tool but not in the service',
    condition:
      "Attachments in child directories; the uploader's option to skip attachments of passed tests is on; " +
      'attachments deleted by cleanup rules.',
    finds: 'nested-attachment',
  },
  {
    said: 'Tree displayed incorrectly (versions 5.11 to 5.24)',
    condition: 'Tree data is being migrated to a new structure.',
    finds: 'trees-unmigrated',
  },
  { said: 'Cannot sign in as administrator', condition: 'Wrong account type.', finds: 'admin-signin' },
]

/** Messages as they stand in logs and on screens, with names, times and numbers in braces. */
export const messages: readonly [message: string, finds: string][] = [
  ['liquibase.lockservice : Waiting for changelog lock....', 'stuck-lock'],
  [
    'liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by {host} ' +
      '({address}) since {date}',
    'stuck-lock',
  ],
  [
    'org.springframework.amqp.AmqpIOException: connection error; protocol method: ' +
      '#method<connection.close>(reply-code=541, reply-text=INTERNAL_ERROR - Feature `transient_nonexcl_queues` ' +
      'is deprecated.\nBy default, this feature is not permitted anymore.\nThe feature will be removed from a ' +
      'future major RabbitMQ version, regardless of the configuration; actual version to be determined.\nTo...',
    'transient-refused',
  ],
  [
    'channel error; protocol method: #method<channel.close>(reply-code=406, reply-text=PRECONDITION_FAILED - ' +
      "inequivalent arg 'durable' for queue '{queue}' in vhost '{queue}': received 'true' but current is " +
      "'false', class-id=50, method-id={number})",
    'durable-mismatch',
  ],
  ['java.net.UnknownHostException: {host}: Name or service not known', 'unknown-host'],
  ['Fatal glibc error: CPU does not support x86-64-v3', 'cpu-without-v3'],
  ['Request failed with status code 401. The expected CSRF token could not be found', 'stale-sessions'],
  ['POST https://{host}/api/testcase/{number}/move: Request failed with status code 409', 'duplicate-move'],
  ['<-- 400 Bad Request https://{host}/rest/api/2/issue ({number}ms)', 'integration-400'],
  ['<-- HTTP FAILED: java.io.IOException: unexpected end of stream on https://{host}/...', 'integration-400'],
  ['HikariPool-1 - Connection is not available, request timed out after {number}ms.', 'pool-exhausted'],
  ['FATAL: sorry, too many clients already', 'connections-exhausted'],
  ['ERROR: could not extend file "base/{number}/{number}": No space left on device', 'disk-full'],
  ['All files have been processed: indexed [{number}], processed [0], errors [{number}]', 'files-before-agent'],
  ["We weren't able to index files during [5m]: found [{number}], indexed [0]", 'empty-results'],
  ['java.lang.OutOfMemoryError: Java heap space', 'service/crashes'],
  ['404 Bad credentials', 'token-refused'],
  ['<html><head><title>413 Request Entity Too Large</title></head>', 'proxy-limits'],
  ['Cannot invoke "java.util.Date.getTime()" because "lockGranted" is null', 'lock-half-cleared'],
  ['{failed_to_deny_deprecated_features,[transient_nonexcl_queues]}', 'broker-does-not-boot'],
  [
    'Kernel pid terminated (application_controller) ' +
      '("{application_start_failure,rabbit,{{failed_to_deny_deprecated_features,[transient_nonexcl_queues]},' +
      '{rabbit,start,[normal,[]]}}}")',
    'broker-does-not-boot',
  ],
  [
    "<0.132.0> You've tried to set deprecated_features.permit.transient_nonexcl_queues, but there is no " +
      'setting with that name.',
    'broker-does-not-boot',
  ],
  ['Не удается установить соединение', 'cannot-connect'],
  [
    '{"@timestamp":"{date}","level":"ERROR","logger":"liquibase","message":"Could not acquire change log lock. ' +
      ' Currently locked by {host} ({address})"}',
    'stuck-lock',
  ],
  [
    '{"error":"{host}","trace":"java.net.UnknownHostException: {host}\\n\\tat ' +
      'java.base/java.net.InetAddress.getByName(InetAddress.java:{number})"}',
    'unknown-host',
  ],
]
