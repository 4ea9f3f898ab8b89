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
    verify: ['grep UnknownHostException LOG | tail', 'getent hosts NAME', 'kubectl exec deployment/NAME -- getent hosts NAME'],
    remedies: [
      { text: 'Correct the address in the settings of the integration.', commands: [] },
      {
        text: 'Or make the name resolve where the service runs, then ask as the service would.',
        commands: ["getent hosts NAME   # where the service runs", 'curl -sS -o /dev/null -w "%{http_code}\\n" https://NAME   # where the service runs'],
      },
    ],
    source: 'SPEC.md 7, FAULTS.md',
  },
  {
    id: 'integrations/debug-logging',
    kind: 'check',
    title: 'integrations log no debug output',
    severities: ['warning'],
    meaning:
      "The integrations' logger was set to debug to look for a fault, and was left so. It writes what it sends and " +
      'receives, which fills disks and may hold what should not stand in a log.',
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
          "By hand: take it out of the file that the service's unit reads its environment from, out of env.open in the " +
          "chart's values, or out of the file of Compose; then restart the service.",
        commands: ['systemctl show testops -p EnvironmentFiles', 'helm upgrade RELEASE CHART -f VALUES', 'docker compose up -d'],
      },
    ],
    source: 'SPEC.md 7, FAULTS.md',
  },
]
