import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Secret } from '../../core/secret.ts'
import type { BrokerListener } from './broker/listener.ts'
import { listenToBroker } from './broker/listener.ts'
import type { Controlled } from './control.ts'
import { openControl } from './control.ts'
import { changeSets } from './data/change-sets.ts'
import { treeMigration } from './data/jobs.ts'
import { testCases } from './data/projects.ts'
import type { Database } from './database/pool.ts'
import { openDatabase } from './database/pool.ts'
import { answerPlan } from './http/planned-answers.ts'
import { createApp, openHttp } from './http/server.ts'
import { createTokens } from './http/tokens.ts'
import { pollIntegrations } from './integrations/poll.ts'
import { LiquibaseFailure, lockedBy } from './liquibase/lock-service.ts'
import { update } from './liquibase/update.ts'
import type { Log } from './log/log.ts'
import { createLog, fileWriter, levelFilter, summary, throwable, StartupFailure } from './log/log.ts'
import type { PracticeMachine } from './machine.ts'
import { createClock } from './machine.ts'
import { sessionRepository } from './sessions/repository.ts'
import { openStore } from './sessions/store.ts'
import type { Environment, ServiceSettings } from './settings.ts'
import { readLogSettings, readSettings } from './settings.ts'

/** Logs a failed start as Spring Boot does when it could not refresh its context. */
function reportFailure({ bean, thrown, analysis }: StartupFailure, log: Log): void {
  const message =
    `Error creating bean with name '${bean}' defined in class path resource [${bean}.class]: ` + summary(thrown)
  const creation = throwable(
    'org.springframework.beans.factory.BeanCreationException',
    message,
    [
      'org.springframework.beans.factory.support.AbstractBeanFactory.doGetBean(AbstractBeanFactory.java:336)',
      'org.springframework.boot.SpringApplication.run(SpringApplication.java:335)',
    ],
    thrown,
  )
  log.warn(
    'org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext',
    `Exception encountered during context initialization - cancelling refresh attempt: ${summary(creation)}`,
  )
  if (analysis === null) {
    log.error('org.springframework.boot.SpringApplication', 'Application run failed', creation)
    return
  }
  const stars = '***************************'
  log.error(
    'org.springframework.boot.diagnostics.LoggingFailureAnalysisReporter',
    [
      '',
      '',
      stars,
      'APPLICATION FAILED TO START',
      stars,
      '',
      'Description:',
      '',
      analysis.description,
      '',
      'Action:',
      '',
      analysis.action,
      '',
    ].join('\n'),
  )
}

const application = 'vendor.report.TestOpsApplication'
const tomcat = 'org.springframework.boot.web.embedded.tomcat.TomcatWebServer'

export interface PracticeService {
  port: number
  /** null: no control server */
  controlPort: number | null
  /** closes everything; can safely run twice */
  stop(): Promise<void>
}

interface StartOptions {
  /** stops a running start, which then rejects with AbortError */
  signal?: AbortSignal
  /** receives the log if LOGGING_FILE_NAME is not set; standard output if left out */
  write?: (text: string) => void
}

/**
 * Starts the service as Spring Boot would. Resolves once its HTTP port is open. Rejects with StartupFailure, which is
 * then already in the log, and leaves nothing open.
 */
export async function startPracticeService(
  environment: Environment,
  machine: PracticeMachine,
  options: StartOptions = {},
): Promise<PracticeService> {
  const clock = createClock(machine.clockOffsetMs)
  const { logFile, timeZone } = readLogSettings(environment)
  const write =
    logFile === null ? (options.write ?? ((text: string) => void process.stdout.write(text))) : fileWriter(logFile)
  const log = createLog({ write, clock, timeZone, enabled: levelFilter(environment) })
  const signal = options.signal ?? new AbortController().signal
  let broker: BrokerListener | null = null
  const controlled: Controlled = {
    phase: 'starting',
    clock,
    responseDelayMs: machine.responseDelayMs,
    answers: answerPlan(clock),
    broker: () => broker?.state().status ?? 'connecting',
    testCases: null,
  }
  const closers: (() => Promise<void> | void)[] = []
  const stop = async (): Promise<void> => {
    controlled.phase = 'stopping'
    for (const close of closers.splice(0).reverse()) await close()
  }

  const since = Date.now()
  try {
    log.info(
      application,
      `Starting TestOpsApplication v${machine.build} using Java 17.0.12 with PID ${process.pid} ` +
        '(/app/testops.jar started by testops in /app)',
    )
    const control = machine.controlPort === 0 ? null : await openControl(machine.controlPort, controlled)
    if (control) closers.push(() => control.close())
    const settings = readSettings(environment, machine.vendor)
    const database = await openDatabase(settings.database, settings.timeZone, log)
    closers.push(() => database.close())
    await migrate(database, settings, machine, controlled, log, signal)
    controlled.testCases = testCases(database, log)

    const store = openStore(settings.redis, settings.sessions.indexed, log)
    const { redis } = store
    closers.push(() => store.close())
    await redis.connect().catch(() => undefined)
    const listener = listenToBroker(settings.broker, machine.brokerRetryMs, log)
    broker = listener
    closers.push(() => listener.stop())
    await Promise.race([listener.attempted, sleep(3000, undefined, { ref: false })])
    signal.throwIfAborted()

    const trees = treeMigration(database, settings.database, log)
    closers.push(() => trees.stop())
    const app = createApp({
      settings,
      machine,
      clock,
      log,
      database,
      redis,
      sessions: sessionRepository(redis, settings.sessions, settings.redis.database, clock),
      tokens: createTokens(
        settings.jwtSecret ?? new Secret(randomBytes(32).toString('hex')),
        settings.tokenSeconds,
        clock,
      ),
      trees,
      broker: () => listener.state(),
      delayMs: () => controlled.responseDelayMs,
    })
    const http = await openHttp(
      (request) => app.fetch(request),
      (listener) => controlled.answers.before(listener),
      settings.address,
      settings.port,
    )
    closers.push(() => http.close())
    log.info(tomcat, `Tomcat started on port ${http.port} (http) with context path '/'`)
    // if the database has just been lost, the pool has logged that, and the service stays up
    await trees.begin({ unmigrated: true }).catch(() => undefined)
    const loggerPackage = machine.vendor.package.toLowerCase().replaceAll('_', '.')
    const polling = pollIntegrations(database, machine.integrationIntervalMs, loggerPackage, log)
    closers.push(() => polling.stop())
    controlled.phase = 'running'
    log.info(
      application,
      `Started TestOpsApplication in ${((Date.now() - since) / 1000).toFixed(3)} seconds ` +
        `(process running for ${process.uptime().toFixed(3)})`,
    )
    return { port: http.port, controlPort: control?.port ?? null, stop }
  } catch (error) {
    if (error instanceof StartupFailure) reportFailure(error, log)
    await stop()
    throw error
  }
}

async function migrate(
  database: Database,
  settings: ServiceSettings,
  machine: PracticeMachine,
  controlled: Controlled,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  try {
    await update(database, changeSets(machine.migration), {
      ...settings.liquibase,
      address: settings.database,
      holder: lockedBy(machine.hostName),
      timeZone: settings.timeZone,
      version: machine.liquibase,
      log,
      signal,
      progress: (phase) => (controlled.phase = phase),
    })
  } catch (error) {
    if (error instanceof LiquibaseFailure) throw new StartupFailure('liquibase', error.thrown)
    throw error
  }
}
