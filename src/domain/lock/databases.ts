import { AdminError } from '../../core/error.ts'
import type { DatabaseSource } from '../../core/sources.ts'
import { listed } from '../../core/format.ts'
import { isSameDatabase, leadsTo } from './route.ts'
import type { KnownUse } from './route.ts'
import { tolerant } from '../wanted.ts'

type Databases = readonly [DatabaseSource, ...DatabaseSource[]]

/**
 * Returns the databases to search for locks, first the one that the service's Liquibase uses: the main one, unless
 * `spring.liquibase.url` names another. Throws REFUSED if it names none of them: a lock other than the service's would
 * be judged.
 */
export async function lockDatabases(databases: Databases, known: KnownUse): Promise<Databases> {
  const { liquibase = null, main } = known.use ?? {}
  if (liquibase === null) return databases
  const { address, shown } = liquibase
  if (address === null) throw elsewhere(databases, `cannot tell which database the service's Liquibase uses: ${shown}`)
  const [first] = databases
  const own =
    main?.address && isSameDatabase(address, main.address)
      ? first
      : databases.find((database) => leadsTo(address, database, known))
  if (own === undefined)
    throw elsewhere(
      databases,
      `the service's Liquibase uses the database at ${shown.startsWith('the address ') ? shown : `${shown}/${address.database ?? ''} (SPRING_LIQUIBASE_URL)`}`,
    )
  const mark = await markOf(own)
  // leave out other addresses of the database that Liquibase uses
  const marks = await Promise.all(databases.map(markOf))
  return [own, ...databases.filter((database, index) => database !== own && (mark === null || marks[index] !== mark))]
}

/** Returns a text that is the same for one database at any address; null if the database cannot be queried. */
async function markOf(database: DatabaseSource): Promise<string | null> {
  const identity = await tolerant(database.identity())
  return identity && JSON.stringify([identity.startedAt.getTime(), identity.version, identity.port, identity.database])
}

function elsewhere(databases: Databases, why: string): AdminError {
  const message = `${why}; the locks in ${listed(databases.map(({ target }) => target))} may not be the service's`
  return new AdminError('REFUSED', message, [
    'name that database first in the configuration: database',
    'testops-admin explain database/changelog-lock',
  ])
}
