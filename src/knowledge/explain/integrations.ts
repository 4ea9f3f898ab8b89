import type { ExplainEntry } from './entry.ts'

export const integrationsEntries: readonly ExplainEntry[] = [
  {
    id: 'integrations/reachable',
    kind: 'check',
    title: 'hosts of integrations have addresses',
    severities: ['error', 'warning'],
    meaning:
      'The service could not resolve the host name of an external system that an integration points to: ' +
      'java.net.UnknownHostException in its log. Users see "Не удается установить соединение" (cannot establish ' +
      'connection). It is an error while the name still does not resolve or failed within the last 15 minutes; ' +
      'otherwise it is a warning. A name that resolves again where the service runs is no problem.',
    causes: [
      'The address in the integration is mistyped, or the external system has moved.',
      'The name resolves on this machine, but not where the service runs: another DNS server, a container without the ' +
        "company's search domains.",
      'DNS failed for a while.',
    ],
    verify: [
      'grep UnknownHostException LOG | tail',
      'testops-admin check-integration   # here and where the service runs',
      'getent hosts NAME',
      'kubectl exec deployment/NAME -- getent hosts NAME',
    ],
    remedies: [
      { text: 'Correct the address in the settings of the integration.', commands: [] },
      {
        text: 'Or make the name resolve where the service runs, then ask as the service would.',
        commands: [
          'getent hosts NAME   # where the service runs',
          'curl -sS -o /dev/null -w "%{http_code}\\n" https://NAME   # where the service runs',
        ],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/reference/faults.md',
  },
  {
    id: 'integrations/credentials',
    kind: 'check',
    title: 'external systems accept the credentials of integrations',
    severities: ['error', 'warning'],
    meaning:
      'An external system answered calls of an integration with 401 or 403. Only the debug output of ' +
      'integrations in the log of the service shows this. Users see "Не удается установить соединение" ' +
      '(cannot establish connection). It is an error if it happened within the last 15 minutes and since the ' +
      'last start of the service; otherwise it is a warning. It is over once the same address answers well.',
    causes: [
      'The password or token is wrong, has expired or was withdrawn.',
      'There is a blank before or after the user, the password or the token, often from copying. It counts as a character.',
      'The integration has a user name but the system wants an e-mail address, or the other way round. It ' +
        'depends on the integration, and the two are rarely interchangeable.',
      '403: the user lacks a permission there, or the system blocks sign-ins for a while after too many attempts.',
    ],
    verify: [
      'testops-admin set-env --integration-debug on   # restarts the service',
      "grep -E '<-- (401|403)' LOG | tail",
      'testops-admin check-integration --url URL --user NAME --password-from @FILE   # blanks at the ends, without signing in',
    ],
    remedies: [
      {
        text: 'Enter the user and the password (or token) again in the settings of the integration, without blanks at the ends.',
        commands: [],
      },
      {
        text: 'Try them once by hand. Each attempt counts: many systems lock an account after a few.',
        commands: [
          'testops-admin check-integration --url URL --user NAME --password-from @FILE --sign-in',
          'curl -i --user NAME URL   # asks for the password',
        ],
      },
    ],
    source: 'docs/facts/service.md#credentials-of-integrations, docs/facts/service.md#errors, docs/reference/faults.md',
  },
  {
    id: 'integrations/answers',
    kind: 'check',
    title: 'external systems answer integrations',
    severities: ['error', 'warning'],
    meaning:
      'The log of the service shows that calls of an integration got 400 bad request, or no answer at all ' +
      '(HTTP FAILED). Users see "Не удается установить соединение" (cannot establish connection). It is an ' +
      'error if it happened within the last 15 minutes and since the last start of the service; otherwise it ' +
      'is a warning. It is over once the same address answers well. For a host without an address, see ' +
      'integrations/reachable.',
    causes: [
      '400: the API of the external system has changed, most often with an update, and no longer understands the call.',
      'The address in the integration belongs to another API, or a part of its path is missing.',
      'HTTP FAILED: there is no connection. A firewall or proxy blocks it, the service does not trust a ' +
        'certificate, or the system is down.',
    ],
    verify: [
      "grep -iE 'HTTP FAILED|400 bad request' LOG | tail",
      'testops-admin set-env --integration-debug on   # restarts the service; the lines then name the call',
      'testops-admin check-integration --url URL',
      'kubectl exec deployment/NAME -- curl -sS -o /dev/null -w "%{http_code}\\n" URL   # from where the service runs',
    ],
    remedies: [
      {
        text: 'HTTP FAILED: check the name, the connection and the certificate.',
        commands: ['testops-admin check-integration --url URL'],
      },
      {
        text:
          '400: compare the versions of both systems with those that the integration is made for, and correct ' +
          'its address and settings.',
        commands: [],
      },
      {
        text: 'Then turn debug output off again.',
        commands: ['testops-admin set-env --integration-debug off   # restarts the service'],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/reference/faults.md',
  },
  {
    id: 'integrations/debug-logging',
    kind: 'check',
    title: 'integrations log no debug output',
    severities: ['warning'],
    meaning:
      "Somebody set the integrations' logger to debug to look for a fault, and left it so. It logs what the " +
      'integrations send and receive. That fills disks, and may put data into the log that should not be there.',
    causes: ['LOGGING_LEVEL_<VENDOR_PACKAGE>_INTEGRATION is debug (or trace) among the settings of the service.'],
    verify: [
      "systemctl show testops -p Environment | grep -o 'LOGGING_LEVEL_[A-Z_]*INTEGRATION=[a-z]*'",
      'kubectl exec deployment/NAME -- printenv | grep LOGGING_LEVEL',
    ],
    remedies: [
      {
        text: 'Remove the setting, and restart the service.',
        commands: ['testops-admin set-env --integration-debug off'],
      },
      {
        text:
          "By hand: remove it from the environment file of the service's unit, from env.open in the chart's " +
          'values, or from the file of Compose. Then restart the service.',
        commands: [
          'systemctl show testops -p EnvironmentFiles',
          'helm upgrade RELEASE CHART -f VALUES',
          'docker compose up -d',
        ],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/reference/faults.md',
  },
]
