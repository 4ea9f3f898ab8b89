import type { Redis } from 'ioredis'
import type { BrokerState } from '../broker/listener.ts'
import type { Clock, PracticeMachine } from '../machine.ts'
import type { TreeMigration } from '../data/jobs.ts'
import type { User } from '../data/users.ts'
import type { Database } from '../database/pool.ts'
import type { Log } from '../log/log.ts'
import type { SessionRepository } from '../sessions/repository.ts'
import type { ServiceSettings } from '../settings.ts'
import type { Tokens } from './tokens.ts'

/** The parts that all HTTP handlers share. */
export interface ServiceContext {
  settings: ServiceSettings
  machine: PracticeMachine
  clock: Clock
  log: Log
  database: Database
  redis: Redis
  sessions: SessionRepository
  tokens: Tokens
  trees: TreeMigration
  broker: () => BrokerState
  /** delay before each answer, in milliseconds; the lab changes it */
  delayMs: () => number
}

/** Hono's type parameter: the user, once `authenticated` has accepted the request. */
export interface RequestState {
  Variables: { user: User }
}
