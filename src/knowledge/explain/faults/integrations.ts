import type { ExplainText } from '../entry.ts'

/** Ids are those of the fault matrix. */
export const integrationsFaults: readonly ExplainText[] = [
  {
    id: 'unknown-host',
    kind: 'fault',
    of: 'integrations/reachable',
    title: 'the host name of an external system does not resolve',
    meaning: 'An integration fails, and the log of the service names the host that has no address.',
    signatures: ['unknown-host'],
    words: ['UnknownHostException, name or service not known, dns', 'имя хоста не разрешается, неизвестный хост'],
    see: ['cannot-connect'],
  },
  {
    id: 'bad-credentials',
    kind: 'fault',
    of: 'integrations/credentials',
    title: 'an external system refuses the user or password of an integration',
    meaning: 'The external system answers, but refuses the credentials of the integration.',
    words: [
      'integration: wrong credentials, wrong password, space at the end of the password',
      'неверный пароль интеграции, неверные учётные данные, пробел в пароле',
    ],
    see: ['user-names', 'cannot-connect'],
  },
  {
    id: 'integration-400',
    kind: 'fault',
    of: 'integrations/answers',
    title: 'an external system answers 400 to an integration',
    meaning: 'The external system does not understand the request of an integration.',
    signatures: ['bad-request', 'http-failed'],
    words: ['integration: external api changed', 'изменился api внешней системы'],
    see: ['cannot-connect'],
  },
  {
    id: 'debug-left-on',
    kind: 'fault',
    of: 'integrations/debug-logging',
    messages: [/logging_level_[a-z_]{1,80}_integration/],
    title: 'debug logging of integrations was left on',
    meaning: 'The log of the service grows, and shows what integrations send.',
    words: [
      'LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION',
      'LOGGING_LEVEL_<VENDOR_PACKAGE>_INTEGRATION debug logging of integrations',
      'отладочное логирование интеграций',
    ],
  },
]
