import { throwable } from '../log/throwable.ts'
import type { Throwable } from '../log/throwable.ts'

const running = [
  'liquibase.command.core.helpers.LockServiceCommandStep.run(LockServiceCommandStep.java:53)',
  'liquibase.command.CommandScope.lambda$execute$6(CommandScope.java:253)',
  'liquibase.command.CommandScope.execute(CommandScope.java:248)',
  'liquibase.Liquibase.lambda$update$0(Liquibase.java:216)',
  'liquibase.integration.spring.SpringLiquibase.performUpdate(SpringLiquibase.java:321)',
  'liquibase.integration.spring.SpringLiquibase.afterPropertiesSet(SpringLiquibase.java:290)',
]

/** An exception from Liquibase, which makes the service's start fail. */
export class LiquibaseFailure extends Error {
  override readonly name = 'LiquibaseFailure'

  constructor(readonly thrown: Throwable) {
    super(thrown.message ?? thrown.type)
  }
}

export function lockException(message: string, cause?: Throwable): LiquibaseFailure {
  const frame = cause
    ? 'liquibase.lockservice.StandardLockService.listLocks(StandardLockService.java:476)'
    : 'liquibase.lockservice.StandardLockService.waitForLock(StandardLockService.java:286)'
  return new LiquibaseFailure(throwable('liquibase.exception.LockException', message, [frame, ...running], cause))
}

export function databaseException(message: string, cause: Throwable): LiquibaseFailure {
  return new LiquibaseFailure(
    throwable(
      'liquibase.exception.DatabaseException',
      message,
      ['liquibase.executor.jvm.JdbcExecutor$ExecuteStatementCallback.doInStatement(JdbcExecutor.java:470)', ...running],
      cause,
    ),
  )
}

export function migrationFailed(changeSet: string, reason: string, cause: Throwable): LiquibaseFailure {
  const message = `Migration failed for changeset ${changeSet}:\n     Reason: ${reason}`
  return new LiquibaseFailure(
    throwable(
      'liquibase.exception.MigrationFailedException',
      message,
      ['liquibase.changelog.ChangeSet.execute(ChangeSet.java:878)', ...running],
      cause,
    ),
  )
}
