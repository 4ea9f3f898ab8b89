/** Liquibase's lock on the change log (FIELD-NOTES.md 2). */
export const changelogLock = {
  table: 'databasechangeloglock',
  /** Only this row counts */
  rowId: 1,
  /** Maximum number of rows read, the one that counts among them; Liquibase itself makes no other */
  rowsRead: 50,
  columns: { id: 'id', locked: 'locked', granted: 'lockgranted', by: 'lockedby' },
  /** How long Liquibase waits, and how often it asks, by default */
  waitMinutes: 5,
  pollSeconds: 10,
} as const

/** Default name of a session of Java's driver: Liquibase's, whoever runs it (FIELD-NOTES.md 1.3). */
export const jdbcApplication = 'PostgreSQL JDBC Driver'

/** Programs that give their sessions these names, and never change a database by a change log. */
export const otherPrograms = /^(?:pg_dump|pg_dumpall|pg_restore|pg_basebackup|postgres_exporter|walreceiver)$/

/**
 * Programs that run what they are given, such as the script of `liquibase update-sql`, which takes the lock like any
 * other.
 */
export const shells = /^(?:psql|pgAdmin 4\b.*)$/

/**
 * What Liquibase logs; SPEC.md 7 writes the first two with other dots and blanks, so match loosely (`logSignatures`).
 */
export const lockMessages = {
  taken: 'Successfully acquired change log lock',
  released: 'Successfully released change log lock',
  waiting: 'Waiting for changelog lock....',
  /** Two blanks after the full stop */
  refused: (holder: string, since: string): string =>
    `Could not acquire change log lock.  Currently locked by ${holder} since ${since}`,
  notUpdated: 'Did not update change log lock correctly.',
} as const

/** Who holds the lock, from `lockedby`: `host[#description] (address)`. */
export interface LockHolder {
  host: string
  description: string | null
  /** Not the address that the database sees: never proof by itself */
  address: string | null
}

/**
 * Reads the column `lockedby`. Hosts may be `unknown`, and addresses may bear a zone: `vm (fd00:0:0:0:0:0:0:2%eth0)`.
 */
export function parseLockedBy(text: string): LockHolder {
  const address = /(?<!\s)\s*\(([^()]*)\)$/.exec(text.trimEnd())
  const name = address ? text.slice(0, address.index) : text.trim()
  const hash = name.indexOf('#')
  return {
    host: hash < 0 ? name : name.slice(0, hash),
    description: hash < 0 ? null : name.slice(hash + 1),
    address: address?.[1] ?? null,
  }
}

/** Shortens `lockedby` for people: 255 characters of it would hide what is said of it. */
export function holderText(lockedBy: string | null): string {
  if (lockedBy === null) return 'an unknown holder'
  const signs = [...lockedBy]
  return signs.length <= mostShown
    ? lockedBy
    : `${signs.slice(0, mostShown - 20).join('')}… (${signs.length} characters)`
}

const mostShown = 120

/**
 * Returns why an address of `lockedby` says nothing of the machine that wrote it, for people; null if it may be that
 * machine's alone.
 */
export function commonAddress(address: string): string | null {
  const plain = (address.toLowerCase().split('%')[0] ?? '').replace(/^::ffff:/, '')
  if (plain === '::1' || plain === '0:0:0:0:0:0:0:1' || plain.startsWith('127.'))
    return 'every machine has this address'
  if (plain.startsWith('169.254.') || /^fe[89ab]/.test(plain))
    return 'it is link-local, so other machines may have the same address'
  // the pools from which Docker assigns addresses to its bridges and containers by default
  if (/^172\.(?:1[7-9]|2\d|3[01])\./.test(plain))
    return 'every Docker host uses the same addresses for its bridges and containers'
  return null
}

/**
 * True if a statement only asks for the lock or releases it, as a session does that waits for it (SERVERS.md,
 * PostgreSQL).
 */
export function isLockStatement(query: string): boolean {
  return /\bdatabasechangeloglock\b/i.test(query)
}

/** True if both are one host. Host names may be container ids cut to 12 characters, or leave out a domain. */
export function isSameHost(instance: string, host: string): boolean {
  const a = instance.toLowerCase()
  const b = host.toLowerCase()
  if (a === b || (/^[0-9a-f]{12,64}$/.test(a) && /^[0-9a-f]{12,64}$/.test(b) && (a.startsWith(b) || b.startsWith(a))))
    return true
  return !/^[\d.]+$/.test(a) && !/^[\d.]+$/.test(b) && (a.startsWith(`${b}.`) || b.startsWith(`${a}.`))
}
