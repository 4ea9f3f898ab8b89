import { releasesForeignLock } from '../../log-signatures.ts'
import type { ExplainText } from '../entry.ts'

/** Ids are those of the fault matrix. */
export const databaseFaults: readonly ExplainText[] = [
  {
    id: 'stuck-lock',
    kind: 'fault',
    of: 'database/changelog-lock',
    title: 'a service that ended abruptly left the change-log lock locked',
    meaning:
      'The service does not start, and its log repeats that it waits for the change-log lock: the holder is dead.',
    signatures: ['lock-refused', 'lock-waiting'],
    words: [
      'changelog is locked, service does not start: liquibase lock',
      'waiting for the lock forever, lock was not released after a crash',
      'блокировка базы не снимается, не снята блокировка changelog, не удалось получить блокировку changelog',
      'stop the service, in the table databasechangeloglock set locked to false and clear lockgranted and lockedby for the row with id 1',
      'start-up failure with a change-log lock error',
      'database lock left after an abrupt stop',
      'databasechangeloglock locked lockgranted lockedby',
      'liquibase stuck lock LockException',
      'сервис не запускается, блокировка liquibase в базе данных осталась, ждёт блокировку',
    ],
  },
  {
    id: 'live-lock',
    kind: 'fault',
    of: 'database/changelog-lock',
    title: 'the change-log lock is held by a migration that still works',
    severities: [],
    meaning:
      'An instance of the service changes the database, and others wait for it: nothing is broken, however ' +
      'long it takes. `doctor` names the holder and reports no problem. Releasing the lock is refused, ' +
      'because two migrations would run at once.',
    causes: [
      'A new version was started, and it has much to change. The first start after an upgrade may take ' +
        'longer than the 5 minutes that others wait.',
    ],
    remedies: [
      {
        text: 'Wait until the migration is done. If a probe would end it, switch the probes off for that start.',
        commands: ['testops-admin doctor --wait'],
      },
      {
        text: 'Release it only if you know better than the evidence.',
        commands: ['testops-admin unlock-changelog --accept-risk live-holder'],
      },
    ],
    signatures: ['lock-waiting', 'lock-refused'],
    words: ['long migration is running, holder of the lock is alive', 'долгая миграция базы данных выполняется'],
  },
  {
    id: 'lock-vanished',
    kind: 'fault',
    of: 'database/changelog-lock',
    title: 'the change-log lock changes hands between plan and repair',
    meaning:
      'The row has changed since the repair was planned: somebody freed it by hand, a waiter freed it, or ' +
      'another instance took it. The repair refuses (exit code 4).',
    causes: ['Somebody else, or the service itself, has freed or taken the lock meanwhile.'],
    remedies: [
      {
        text: 'Plan again: the new plan looks at the lock as it is now.',
        commands: ['testops-admin unlock-changelog --dry-run'],
      },
    ],
    words: ['lock row has changed since the plan', 'plan of unlock-changelog is refused, lock is another one'],
  },
  {
    id: 'lock-half-cleared',
    kind: 'fault',
    of: 'database/changelog-lock',
    title: 'the change-log lock is not as Liquibase expects it',
    meaning:
      'The row with id 1 is locked without `lockgranted`, or is missing, or is not the only one, or the ' +
      'table is in another schema. Liquibase fails with a NullPointerException ("lockGranted" is null) or ' +
      'with "Did not update change log lock correctly".',
    causes: [
      'Somebody cleared a part of the row, removed it, or added another one.',
      'The table is in another schema than the service uses.',
    ],
    messages: ['did not update change log lock correctly', '"lockgranted" is null'],
    words: ['no row with id 1 in databasechangeloglock', 'locked true, lockgranted null', 'second row, other schema'],
  },
  {
    id: 'lock-stolen',
    kind: 'fault',
    title: 'the change-log lock is released by a waiter that never held it',
    severities: ['error'],
    isToldBy: releasesForeignLock,
    meaning:
      'A service that waited in vain logs "Successfully released change log lock" right before "Could not ' +
      'acquire change log lock.  Currently locked by …", and never "Successfully acquired change log lock". ' +
      'Liquibase before 4.29.2 releases the lock when it ends, even if it never held it. The row is free ' +
      'from then on, although the holder in the message may still work. The next start takes the lock, and ' +
      'two migrations run at once. In the same way a stuck lock vanishes by itself, some 5 minutes after a start that failed.',
    causes: [
      'The service has a Liquibase before 4.29.2. It was started while another instance, pod or job migrated ' +
        'for longer than it waits (5 minutes).',
      'It was started with nothing to change, and released the lock of an instance that had something to change.',
    ],
    verify: [
      'grep -E "change ?log lock" SERVICE_LOG',
      'psql DATABASE -c "SELECT id, locked, lockgranted, lockedby FROM databasechangeloglock"',
      'psql DATABASE -c "SELECT pid, usename, client_addr, state, xact_start, query FROM pg_stat_activity WHERE datname = current_database() AND state <> \'idle\'"',
    ],
    remedies: [
      {
        text:
          'Keep the service stopped, and everything that would start it again, until the holder in the ' +
          'message has ended: no such process or pod, and no session of it at work. Then start the service. ' +
          'It does not repeat what the other one has done.',
        commands: [],
      },
      {
        text:
          'If two migrations have run at once, stop both. Compare databasechangelog with the tables before ' +
          'you start anything. If a change set ran twice or only half, repair it by hand, or from the backup ' +
          'that was taken before the upgrade.',
        commands: [
          'psql DATABASE -c "SELECT id, author, dateexecuted, orderexecuted FROM databasechangelog ORDER BY dateexecuted DESC LIMIT 20"',
        ],
      },
      {
        text: 'If you saved a plan to release the lock, it is refused, because the row has changed. Plan again.',
        commands: ['testops-admin unlock-changelog --dry-run'],
      },
    ],
    source: 'docs/facts/liquibase.md',
    words: [
      'successfully released change log lock',
      'waiter released a lock that it did not hold, lock vanished by itself',
      'блокировка освободилась сама',
    ],
    see: ['database/changelog-lock'],
  },
  {
    id: 'database-down',
    kind: 'fault',
    of: 'database/reachable',
    title: 'the database does not answer',
    meaning:
      'The service fails at its start, or answers with errors. Everything that needs the database fails or cannot be judged.',
    messages: [
      /connection to \S{1,200} refused\. check that the hostname and port are correct/,
      /password authentication failed for user/,
      'the database system is starting up',
      'the database system is shutting down',
    ],
    words: [
      'database connection refused',
      'postgresql is down, database unreachable',
      'база данных недоступна, postgresql не отвечает',
    ],
  },
  {
    id: 'disk-full',
    kind: 'fault',
    of: 'database/disk',
    title: "the database's disk is full",
    meaning: 'The database refuses what the service wants to store.',
    messages: ['no space left on device', /could not extend file "[^"]{1,200}"/],
    words: ['postgresql disk is full', 'диск базы данных переполнен, закончилось место на диске'],
  },
  {
    id: 'connections-exhausted',
    kind: 'fault',
    of: 'database/connections',
    title: 'the database admits no more connections',
    meaning: 'Requests hang and fail while the service waits for a connection.',
    messages: [
      'sorry, too many clients already',
      'remaining connection slots are reserved',
      /too many connections for (?:role|database) /,
    ],
    words: [
      'database connections are exhausted, no free connections, max_connections, too many connections to the database',
      'закончились соединения с базой данных, не хватает соединений с базой, слишком много подключений к базе данных',
    ],
    see: ['pool-exhausted'],
  },
  {
    id: 'pool-exhausted',
    kind: 'fault',
    title: "the service's own pool of database connections is exhausted",
    severities: ['error'],
    meaning:
      'A request waited for a connection to the database and got none in time: the service used every connection of its pool. The message ' +
      'counts them (total, active, idle, waiting). The database itself may still admit more.',
    causes: [
      'Statements wait for a lock that another session holds, and each keeps its connection.',
      'The database is slow, so connections come back late.',
      'The service does more at once than the pool is made for, for example many uploads at a time.',
    ],
    verify: [
      'testops-admin doctor --only service/log-errors,database',
      "grep -n 'Connection is not available' SERVICE_LOG | tail",
      'psql DATABASE -c "SELECT pid, state, wait_event_type, pg_blocking_pids(pid) AS waits_for, now() - xact_start AS since, left(query, 60) FROM pg_stat_activity WHERE state <> \'idle\' ORDER BY xact_start"',
    ],
    remedies: [
      {
        text: 'Find the session that the others wait for. Wait until it is done, or end it.',
        commands: ['psql DATABASE -c "SELECT pg_terminate_backend(PID)"'],
      },
      {
        text: 'If nothing waits, look at the load of the database, and find out what calls the service so often.',
        commands: ['testops-admin doctor --only api,database'],
      },
      {
        text: 'If requests still hang afterwards, restart the service. That ends its running work.',
        commands: [
          'systemctl restart testops',
          'kubectl rollout restart deployment/NAME',
          'docker compose restart testops',
        ],
      },
    ],
    source: "HikariCP's own words (HikariPool.createTimeoutException), docs/facts/deployment.md#settings",
    signatures: ['pool-exhausted'],
    words: [
      'connection pool exhausted, request timed out',
      'unable to acquire jdbc connection',
      'пул соединений исчерпан, нет свободных соединений в пуле, исчерпан пул подключений к базе данных',
    ],
    see: ['service/log-errors', 'connections-exhausted'],
  },
]
