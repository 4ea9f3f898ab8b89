import type { Log } from './log/log.ts'
import { summary, throwable } from './log/throwable.ts'
import type { StartupFailure } from './startup-failure.ts'

/** Logs a failed start as Spring Boot does when it could not refresh its context. */
export function reportFailure({ bean, thrown, analysis }: StartupFailure, log: Log): void {
  const message = `Error creating bean with name '${bean}' defined in class path resource [${bean}.class]: ${summary(thrown)}`
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
