// Writes a log like a service's on Spring Boot, of any size, and the same each time. One in 50 records shows a known
// fault, and one in 50 another error; half of these have a stack.
import { closeSync, openSync, writeSync } from 'node:fs'

/** Returns a function that gives pseudo-random numbers from 0 to 1. */
function numbers(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const routine = [
  [
    'INFO',
    'io.qameta.allure.report.launch.LaunchService',
    (n) => `Launch ${n} of project ${n % 97} was closed by ci-user-${n % 13}, ${n % 500} results`,
  ],
  [
    'INFO',
    'io.qameta.allure.report.upload.UploadConsumer',
    (n) => `Processed file ${n.toString(16)}-result.json in ${n % 900} ms, queue depth is ${n % 40}`,
  ],
  [
    'DEBUG',
    'org.springframework.web.servlet.DispatcherServlet',
    (n) => `GET "/api/launch/${n}/statistic?projectId=${n % 97}", parameters={masked}`,
  ],
  ['DEBUG', 'org.springframework.web.servlet.DispatcherServlet', () => 'Completed 200 OK'],
  [
    'WARN',
    'io.qameta.allure.report.analytics.AnalyticsJob',
    (n) => `Analytics of project ${n % 97} took ${n % 9000} ms, 0 bytes were left`,
  ],
  [
    'INFO',
    'org.hibernate.SQL',
    (n) =>
      `select l1_0.id,l1_0.name,l1_0.closed from launch l1_0 where l1_0.project_id=${n % 97} order by l1_0.id ` +
      'desc fetch first 10 rows only',
  ],
  [
    'INFO',
    'io.qameta.allure.report.testcase.TestCaseService',
    (n) => `Обновлён тестовый случай ${n}: Проверка входа пользователя`,
  ],
  [
    'INFO',
    'com.zaxxer.hikari.pool.HikariPool',
    (n) => `HikariPool-1 - Pool stats (total=${n % 20}, active=${n % 7}, idle=${n % 11}, waiting=0)`,
  ],
]
const faults = [
  (n) => `java.net.UnknownHostException: jira-${n % 5}.example.org: Name or service not known`,
  (n) => `<-- HTTP FAILED: java.net.SocketTimeoutException: timeout after ${n % 9000} ms`,
  () => "Integration 'tracker' answered 400 Bad Request to GET https://tracker.example.org/rest/api/2/issue",
  () => 'Waiting for changelog lock....',
  (n) =>
    `HikariPool-1 - Connection is not available, request timed out after ${30000 + (n % 9)}ms (total=10, ` +
    `active=10, idle=0, waiting=${n % 90})`,
  () =>
    "channel error; reply-text=PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'upload' in vhost " +
    "'/': received 'true' but current is 'false'",
  () => 'Request failed with status code 401. The expected CSRF token could not be found',
  () => 'java.lang.OutOfMemoryError: Java heap space',
]
const frames = [
  'io.qameta.allure.report.upload.UploadConsumer.consume(UploadConsumer.java',
  'org.springframework.aop.framework.CglibAopProxy$CglibMethodInvocation.proceed(CglibAopProxy.java',
  'java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java',
  'okhttp3.internal.connection.RealCall.getResponseWithInterceptorChain$okhttp(RealCall.kt',
  'org.apache.tomcat.util.net.SocketProcessorBase.run(SocketProcessorBase.java',
]

function stack(chance, told) {
  const lines = Array.from(
    { length: 10 + Math.floor(chance() * 30) },
    () => `\tat ${frames[Math.floor(chance() * frames.length)]}:${Math.floor(chance() * 900)})`,
  )
  return (
    `\njava.lang.IllegalStateException: it could not be done\n${lines.join('\n')}\nCaused by: ` +
    `${told}\n${lines.slice(0, 8).join('\n')}\n\t... 42 common frames omitted`
  )
}

/** Writes a log of at least `bytes` bytes to the file. */
export function writeServiceLog(path, bytes) {
  const chance = numbers(20261122)
  const file = openSync(path, 'w')
  let time = Date.UTC(2026, 10, 1)
  let written = 0
  for (let records = 0; written < bytes; ) {
    let block = ''
    while (block.length < 1 << 20) {
      records += 1
      time += Math.floor(chance() * 400)
      const number = Math.floor(chance() * 1e6)
      const kind = Math.floor(chance() * 100)
      const date = new Date(time).toISOString().slice(0, 23).replace('T', ' ')
      const [level, logger, message] =
        kind < 4 ? ['ERROR', 'io.qameta.allure.report.issue.IssueListener', null] : routine[number % routine.length]
      const told =
        kind < 2
          ? faults[number % faults.length](number)
          : `io.qameta.allure.report.NotFoundException: no launch ${number}`
      const text = message ? message(number) : number % 2 ? `could not be done${stack(chance, told)}` : told
      block +=
        `${date} ${level.padStart(5)} 1 --- [testops] [nio-8080-exec-${records % 10}] ` +
        `${logger.slice(-40).padEnd(40)} : ${text}\n`
    }
    written += writeSync(file, block)
  }
  closeSync(file)
}
