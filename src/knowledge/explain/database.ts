import type { ExplainEntry } from './entry.ts'

export const databaseEntries: readonly ExplainEntry[] = [
  {
    id: 'database/reachable',
    kind: 'check',
    title: 'database answers',
    severities: ['error'],
    meaning:
      'The service keeps everything except its sessions and queues in PostgreSQL. Without it the service ' +
      'neither starts nor answers, and other checks fail or cannot be judged. Repair this one first.',
    causes: [
      'PostgreSQL is stopped, still starting, or full.',
      'The host name, the port or the name of the database is wrong, or a firewall blocks the connection.',
      'The user or password is wrong, or pg_hba.conf does not admit this machine.',
      'All connection slots are taken.',
    ],
    verify: ['pg_isready -h HOST -p PORT', 'psql -h HOST -p PORT -U USER -d DATABASE -c "SELECT version()"'],
    remedies: [
      {
        text: 'Start PostgreSQL. If it does not start, read its log.',
        commands: ['systemctl status postgresql', 'systemctl start postgresql'],
      },
      {
        text:
          'If PostgreSQL runs, compare the address, user and password in the configuration with those of the ' +
          'service itself (SPRING_DATASOURCE_URL, _USERNAME, _PASSWORD).',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#what-it-is, docs/facts/deployment.md#settings',
  },
  {
    id: 'database/changelog-lock',
    kind: 'check',
    title: 'change-log lock is free or held by a live migration',
    severities: ['error', 'warning'],
    meaning:
      'Before the service changes its database at start, Liquibase takes a lock: row 1 of the table ' +
      'databasechangeloglock. If the service is killed meanwhile, the row stays locked. The next start waits ' +
      'for it (5 minutes unless set otherwise), logs "Waiting for changelog lock...." and fails with "Could ' +
      'not acquire change log lock". It is an error if the service cannot start because of it. It is a ' +
      'warning if the service is healthy: Liquibase does not ask for the lock while there is nothing to ' +
      'change, so nobody notices the row until the next upgrade. If the holder still works, nothing is ' +
      'wrong: do not release the lock.',
    causes: [
      'The service was killed while it changed the database: out of memory, a lost node, a startup or ' +
        'liveness probe that gave up, or autoheal.',
      'The database was restored from a dump that was taken while the lock was held.',
      'Somebody cleared only a part of the row. With `locked` true and `lockgranted` empty, Liquibase itself fails.',
      'The row with id 1 is missing, or there are more rows. Only id 1 counts, and Liquibase expects to update exactly ' +
        'one row.',
    ],
    verify: [
      'psql DATABASE -c "SELECT id, locked, lockgranted, lockedby FROM databasechangeloglock"',
      'psql DATABASE -c "SELECT pid, usename, application_name, client_addr, state, xact_start, query FROM pg_stat_activity WHERE datname = current_database()"',
    ],
    remedies: [
      {
        text:
          'Make sure that the holder named in `lockedby` is dead: no such process, container or pod, and no ' +
          'open session of the service in pg_stat_activity, busy or idle. A migration that works in Java ' +
          'shows as idle in transaction; behind a pooler (PgBouncer) it may show no session at all. The last ' +
          'statement of a dead holder may still run. Somebody may also migrate beside the service: in the ' +
          'same pod or container, or with the user and address of SPRING_LIQUIBASE_USER and ' +
          'SPRING_LIQUIBASE_URL. Then release the lock.',
        commands: ['testops-admin unlock-changelog'],
      },
      {
        text:
          'By hand: stop the service, clear all three columns together, start the service. `lockgranted` is ' +
          'in the local time of the service: to tell its age, you need the time zone of the service.',
        commands: [
          'psql DATABASE -c "UPDATE databasechangeloglock SET locked = false, lockgranted = NULL, lockedby = NULL WHERE id = 1"',
        ],
      },
      {
        text: 'If a probe killed a long migration, switch the probes off for the upgrade. Otherwise it happens again.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/deployment.md#chart, docs/facts/liquibase.md',
  },
  {
    id: 'database/connections',
    kind: 'check',
    title: 'database has free connections',
    severities: ['error', 'warning'],
    meaning:
      'PostgreSQL admits a fixed number of connections (max_connections), some of them only for privileged roles. When ' +
      'they are used up, the service gets "sorry, too many clients already" and requests fail.',
    causes: [
      'The connection pools together are larger than the database admits: the service has up to four data ' +
        'sources, and each instance has its own pools.',
      'Other programs use the same PostgreSQL, or sessions stay idle in a transaction.',
    ],
    verify: [
      'psql DATABASE -c "SHOW max_connections"',
      'psql DATABASE -c "SELECT usename, application_name, state, count(*) FROM pg_stat_activity GROUP BY 1, 2, 3 ORDER BY 4 DESC"',
    ],
    remedies: [
      {
        text: 'End sessions that nobody needs: idle programs, forgotten sessions.',
        commands: ['psql DATABASE -c "SELECT pg_terminate_backend(PID)"'],
      },
      {
        text: 'Raise max_connections and restart PostgreSQL, or make the pools smaller.',
        commands: ['psql DATABASE -c "ALTER SYSTEM SET max_connections = 200"', 'systemctl restart postgresql'],
      },
    ],
    source: 'docs/facts/deployment.md#settings, docs/reference/faults.md',
  },
  {
    id: 'database/disk',
    kind: 'check',
    title: 'database has room on its disk',
    severities: ['error', 'warning'],
    meaning:
      'PostgreSQL cannot write, or soon will not be able to. Then imports, sign-ins and upgrades fail with ' +
      '"No space left on device", and PostgreSQL may stop altogether.',
    causes: [
      'The file system that holds the data directory is full.',
      'The write-ahead log piles up, because an archive command fails or nobody reads a replication slot any more.',
      'The data has outgrown the volume.',
    ],
    verify: [
      'psql DATABASE -c "SHOW data_directory"',
      'df -h DATA_DIRECTORY',
      'psql DATABASE -c "SELECT pg_size_pretty(pg_database_size(current_database()))"',
      'psql DATABASE -c "SELECT slot_name, active, restart_lsn FROM pg_replication_slots"',
    ],
    remedies: [
      {
        text: 'Enlarge the volume, or free space on it. Never delete files under pg_wal by hand.',
        commands: ['df -h DATA_DIRECTORY', 'du -xh --max-depth=2 DATA_DIRECTORY | sort -h | tail'],
      },
      {
        text: 'Drop a replication slot that nobody reads any more.',
        commands: ['psql DATABASE -c "SELECT pg_drop_replication_slot(\'SLOT\')"'],
      },
    ],
    source: 'docs/reference/faults.md',
  },
]
