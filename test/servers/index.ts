/** The servers of a test run, and a private place on each: a database, a virtual host, a numbered Redis database. */
export { freshDatabase } from './database.ts'
export type { FreshDatabase } from './database.ts'
export { pgbouncer } from './pgbouncer.ts'
export { freshRedisDatabase } from './redis.ts'
export type { FreshRedisDatabase } from './redis.ts'
export { freshVhost } from './vhost.ts'
export type { FreshVhost } from './vhost.ts'
export { servers } from './servers.ts'
