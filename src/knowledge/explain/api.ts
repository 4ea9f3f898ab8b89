import type { ExplainEntry } from './entry.ts'

export const apiEntries: readonly ExplainEntry[] = [
  {
    id: 'api/reachable',
    kind: 'check',
    title: "service's API answers",
    severities: ['error'],
    meaning: 'The service does not answer at its address, or says of itself that it is not healthy.',
    causes: [
      'The service is stopped, still starting, or waits for the change-log lock.',
      'The database or another part that it needs is down.',
      'The address is wrong, or a reverse proxy or firewall stands between and does not let the call through.',
    ],
    verify: ['curl -sS -i BASE_URL/api/management/health', 'curl -sS -o /dev/null -w "%{http_code}\\n" BASE_URL/swagger-ui.html'],
    remedies: [
      { text: 'Look at the other problems first: one of them may be the reason.', commands: ['testops-admin doctor'] },
      {
        text: 'Call the service from its own machine: where that works, the fault lies in the proxy or the network.',
        commands: ['curl -sS -i http://127.0.0.1:8080/api/management/health'],
      },
    ],
    source: 'SPEC.md 4, FIELD-NOTES.md 1.1 and 1.3',
  },
  {
    id: 'api/token',
    kind: 'check',
    title: 'API token is accepted',
    severities: ['error'],
    meaning:
      'An API token is made in the user menu and exchanged for a Bearer token, which every call carries. The service ' +
      'does not exchange the configured token. A Bearer token that is past its life is no fault: it is renewed by ' +
      'another exchange.',
    causes: [
      'The token was deleted in the user menu, cut short when it was copied, or belongs to another instance.',
      'The address points to another instance, or a proxy answers instead of the service.',
      'The account that made the token has been disabled.',
    ],
    verify: [
      `printf %s "$TOKEN" | curl -sS -H 'Expect:' -F grant_type=apitoken -F scope=openid -F 'token=<-' BASE_URL/api/uaa/oauth/token   # TOKEN: the API token`,
      `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -sS -K - BASE_URL/api/uaa/me   # ACCESS_TOKEN: access_token of that answer`,
    ],
    remedies: [
      {
        text: 'Create a new API token in the user menu, and put it where the configuration (`apiToken`) looks for it.',
        commands: [],
      },
      { text: 'Then see whether it is taken.', commands: ['testops-admin doctor --only api/token'] },
    ],
    source: 'SPEC.md 4.1, 4.2 and 5, FIELD-NOTES.md 7',
  },
  {
    id: 'api/token-lifetime',
    kind: 'check',
    title: 'Bearer tokens live as long as the settings say',
    severities: ['warning'],
    meaning:
      'The service issues Bearer tokens with another life than VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS says (the ' +
      "prefix is the vendor's own; 3600 seconds unless set). Clients that count on the setting renew too late, and " +
      'their calls fail with 401.',
    causes: [
      'The setting was changed, and the service has not been restarted since.',
      'The setting is there twice. The last one counts: the chart has a key of its own, and entries under env.open come ' +
        'after it.',
    ],
    verify: [
      'systemctl show testops -p Environment -p EnvironmentFiles',
      'kubectl exec deployment/NAME -- printenv | grep JWT_ACCESS_TOKEN_VALIDITY_SECONDS',
    ],
    remedies: [
      {
        text: 'Where the setting is right already, only restart the service.',
        commands: ['systemctl restart testops', 'kubectl rollout restart deployment/NAME', 'docker compose restart testops'],
      },
      {
        text: 'Else set the life that is meant, and restart the service.',
        commands: ['testops-admin set-env VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=3600'],
      },
      {
        text:
          "By hand: write it into the file that the service's unit reads its environment from, into the chart's values " +
          '(bearerTokenExpirationAfter), or into the file .env of Compose; then restart the service.',
        commands: ['systemctl show testops -p EnvironmentFiles', 'helm upgrade RELEASE CHART -f VALUES', 'docker compose up -d'],
      },
    ],
    source: 'SPEC.md 5 and 8, FIELD-NOTES.md 1.1',
  },
  {
    id: 'api/latency',
    kind: 'check',
    title: "service's API answers at once",
    severities: ['warning'],
    meaning:
      'Small calls take more than a second to answer. Uploads and pages then run into the time-outs of proxies, and ' +
      'results may be missing.',
    causes: [
      'The database is slow, or has no connections to spare.',
      'Programs send the API token itself on many calls instead of a Bearer token, which can overload the service.',
      'The machine is short of processor time or memory, or the network between is slow.',
    ],
    verify: [
      "curl -sS -o /dev/null -w '%{time_connect} %{time_starttransfer} %{time_total}\\n' BASE_URL/api/management/health",
      'top -b -n1 | head -20',
    ],
    remedies: [
      {
        text: 'Compare with the same call on the machine of the service: where that is fast, look at the proxy and the network.',
        commands: ["curl -sS -o /dev/null -w '%{time_total}\\n' http://127.0.0.1:8080/api/management/health"],
      },
      {
        text: 'Look for what loads the database.',
        commands: [
          'psql DATABASE -c "SELECT pid, now() - query_start AS since, state, left(query, 80) FROM pg_stat_activity WHERE state <> \'idle\' ORDER BY 2 DESC"',
        ],
      },
    ],
    source: 'SPEC.md 5 and 7',
  },
]
