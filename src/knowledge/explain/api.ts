import type { ExplainEntry } from './entry.ts'

export const apiEntries: readonly ExplainEntry[] = [
  {
    id: 'api/reachable',
    kind: 'check',
    title: "service's API answers",
    severities: ['error'],
    meaning: 'The service does not answer at its address, or it says that it is not healthy.',
    causes: [
      'The service is stopped, still starting, or waits for the change-log lock.',
      'The database or another part that it needs is down.',
      'The address is wrong, or a reverse proxy or firewall blocks the call. If only its health is hidden, ' +
        'an exchange of the API token, or a page that asks for a Bearer token, counts as an answer.',
    ],
    verify: [
      'curl -sS -i BASE_URL/api/management/health',
      'curl -sS -o /dev/null -w "%{http_code}\\n" BASE_URL/swagger-ui.html',
    ],
    remedies: [
      { text: 'Look at the other problems first: one of them may be the reason.', commands: ['testops-admin doctor'] },
      {
        text: 'Call the service from its own machine. If that works, the fault is in the proxy or the network.',
        commands: ['curl -sS -i http://127.0.0.1:8080/api/management/health'],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/deployment.md#chart, docs/facts/deployment.md#settings',
  },
  {
    id: 'api/token',
    kind: 'check',
    title: 'API token is accepted',
    severities: ['error'],
    meaning:
      'Users create an API token in the user menu and exchange it for a Bearer token, which every call ' +
      'carries. The service refuses this exchange for the configured API token. An expired Bearer token is ' +
      'normal: another exchange renews it.',
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
      { text: 'Then check that the service accepts it.', commands: ['testops-admin doctor --only api/token'] },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/api.md',
  },
  {
    id: 'api/roles',
    kind: 'check',
    title: "API token's user may migrate trees",
    severities: ['warning'],
    meaning:
      'Versions 5.11 to 5.24 move the trees of test cases to a new structure. To start a migration by hand, ' +
      'a user needs the global role `Администратор`, or the role `Владелец проекта` in the project. Other ' +
      "users get 403. The check reads the roles of the API token's user from GET /api/uaa/me. The fields " +
      'there are not documented: if the check does not understand them, it draws no conclusion. They do not ' +
      'show which projects a user owns.',
    causes: ['The API token belongs to a user who only tests.', 'The user has lost the role since.'],
    verify: [
      `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -sS -K - BASE_URL/api/uaa/me   # ACCESS_TOKEN: see testops-admin explain api/token`,
    ],
    remedies: [
      {
        text:
          'Ask an administrator to create an API token in the user menu, and put it where the configuration ' +
          '(`apiToken`) looks for it.',
        commands: ['testops-admin doctor --only api/roles'],
      },
      {
        text: 'Or migrate only the trees of projects that the user owns.',
        commands: ['testops-admin migrate-trees --project ID'],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#trees',
  },
  {
    id: 'api/token-lifetime',
    kind: 'check',
    title: 'Bearer tokens live as long as the settings say',
    severities: ['warning'],
    meaning:
      'The service issues Bearer tokens with another lifetime than VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS ' +
      "says (3600 seconds unless set). The prefix of that name is the vendor's own. Clients that rely on the " +
      'setting renew too late, and their calls fail with 401.',
    causes: [
      'The setting was changed, and the service has not been restarted since.',
      'The setting is there twice, and the last one counts. The chart has its own key, and entries under ' +
        'env.open come after it.',
    ],
    verify: [
      'systemctl show testops -p Environment -p EnvironmentFiles',
      'kubectl exec deployment/NAME -- printenv | grep JWT_ACCESS_TOKEN_VALIDITY_SECONDS',
    ],
    remedies: [
      {
        text: 'If the setting is already right, only restart the service.',
        commands: [
          'systemctl restart testops',
          'kubectl rollout restart deployment/NAME',
          'docker compose restart testops',
        ],
      },
      {
        text: 'Otherwise, set the lifetime that you want, and restart the service.',
        commands: ['testops-admin set-env --token-lifetime 3600'],
      },
      {
        text:
          "By hand: write it into the environment file of the service's unit, into the chart's values " +
          '(bearerTokenExpirationAfter), or into the file .env of Compose. Then restart the service.',
        commands: [
          'systemctl show testops -p EnvironmentFiles',
          'helm upgrade RELEASE CHART -f VALUES',
          'docker compose up -d',
        ],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#result-files, docs/facts/deployment.md#chart',
  },
  {
    id: 'api/token-use',
    kind: 'check',
    title: 'API token is sent only to be exchanged',
    severities: ['warning'],
    meaning:
      'A program should exchange the API token of the user menu for a Bearer token, and send that on each ' +
      'call until it expires. Some programs send the API token itself on every call (`Authorization: ' +
      'api-token …`), or exchange it again for each call. Many such calls can overload the service: high ' +
      'processor use, or a crash. The check reads the log of the proxy in front of the service (`accessLog` ' +
      'in the configuration). It sees API tokens only if that log records the scheme of the Authorization ' +
      'header. The usual log formats do not: there, the check sees only needless exchanges.',
    causes: [
      'A plugin, an MCP server or a script sends the API token as it is.',
      'A script exchanges the token before each call instead of once an hour.',
    ],
    verify: [
      'tail -c 4000000 ACCESS_LOG | grep -cE \'[" ]api-token[" ]\'',
      'tail -c 4000000 ACCESS_LOG | grep -c /api/uaa/oauth/token',
    ],
    remedies: [
      {
        text: 'Change the program: it should exchange the API token once, and send the Bearer token until shortly before it expires.',
        commands: [
          `printf %s "$TOKEN" | curl -sS -H 'Expect:' -F grant_type=apitoken -F scope=openid -F 'token=<-' BASE_URL/api/uaa/oauth/token   # TOKEN: the API token`,
          `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -sS -K - BASE_URL/api/project   # ACCESS_TOKEN: access_token of that answer`,
        ],
      },
      {
        text:
          'Have the proxy log the scheme, but never the whole header: the token is in it. nginx, in the section ' +
          'http: map $http_authorization $scheme { default "-"; "~^(?<s>[A-Za-z-]+) " $s; } log_format combined_scheme ' +
          '\'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" ' +
          '"$http_user_agent" "$scheme"\'; access_log /var/log/nginx/access.log combined_scheme;',
        commands: ['sudo nginx -t', 'sudo nginx -s reload', 'testops-admin doctor --only api/token-use'],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/api.md',
  },
  {
    id: 'api/system-login',
    kind: 'check',
    title: 'built-in administrator has a sign-in page',
    severities: ['warning'],
    meaning:
      'If an identity provider (LDAP, SAML 2.0 or OpenID Connect) is the main way to sign in, the main page ' +
      'accepts only its accounts. The built-in administrator is an account of the service itself, and signs ' +
      'in at /login/system. The main way to sign in does not show from outside. The check reads the access ' +
      'log of the proxy in front of the service (`accessLog` in the configuration): it shows whether ' +
      'browsers get that page or are sent elsewhere.',
    causes: [
      'Somebody uses the built-in account on the main page, which asks the identity provider.',
      'A proxy sends every user who is not signed in to the identity provider, from any page.',
      'A proxy lets only some paths through, and blocks /login/system.',
    ],
    verify: ['curl -sI BASE_URL/login/system', "tail -c 4000000 ACCESS_LOG | grep -c 'GET.*[^i]/login/system'"],
    remedies: [
      {
        text:
          'Sign in at BASE_URL/login/system with the built-in account. Server edition: its password is in ' +
          'the configuration files. Cloud edition: it is in the message that came when the instance was created.',
        commands: [],
      },
      {
        text: 'If the page does not appear, let the proxy pass /login/system and /api/login/system to the service unchanged.',
        commands: ['testops-admin doctor --only api/system-login'],
      },
    ],
    source:
      'docs/facts/service.md#administrator, docs/facts/service.md#tokens, docs/facts/service.md#errors, docs/facts/sessions.md',
  },
  {
    id: 'api/proxy',
    kind: 'check',
    title: 'proxy lets large and slow requests through',
    severities: ['warning'],
    meaning:
      'A proxy in front of the service answers by itself if a request is larger than it allows (413), if the ' +
      "service takes longer than it waits (504), or if it cannot use the service's answer (502). Results of " +
      'an upload then go missing. The log of the proxy (`accessLog` in the configuration) shows each such ' +
      'answer. The check ignores answers from times when the whole service was away, as in a restart. On ' +
      'Kubernetes it also reads the annotations of the Ingress in front of the service, but not the settings ' +
      'of its controller. It never sends a large request to find out.',
    causes: [
      'The proxy accepts only requests that are smaller than the uploads (nginx: client_max_body_size, 1 MB unless set).',
      'Large uploads, exports or pages take longer than the proxy waits (nginx: proxy_read_timeout, 60 s unless set).',
      'The header of an answer, with its cookies, is larger than the proxy accepts (nginx: proxy_buffer_size).',
    ],
    verify: [
      `tail -c 4000000 ACCESS_LOG | grep -cE '("|":"?) ?(413|502|504)[ ,"}]'`,
      "sudo nginx -T | grep -nE 'client_max_body_size|proxy_read_timeout|proxy_buffer_size'",
      "kubectl get ingress -o yaml | grep -nE 'body-size|read-timeout|timeout-server'",
      "kubectl get configmap -A -l app.kubernetes.io/name=ingress-nginx -o yaml | grep -nE 'proxy-body-size|proxy-read-timeout'",
    ],
    remedies: [
      {
        text:
          'Raise the limit in the proxy, and in every router and firewall on the way. Result files have up to ' +
          '2 MB, attachments more.',
        commands: ['sudo nginx -t', 'sudo nginx -s reload', 'testops-admin doctor --only api/proxy'],
      },
      {
        text: 'If requests time out, first find out why the service takes so long.',
        commands: ['testops-admin explain api/latency'],
      },
    ],
    source:
      'docs/facts/service.md#errors, docs/facts/service.md#result-files, nginx.org, ngx_http_core_module and ngx_http_proxy_module',
  },
  {
    id: 'api/latency',
    kind: 'check',
    title: "service's API answers quickly",
    severities: ['warning'],
    meaning:
      'Small calls take more than a second to answer. Uploads and pages then run into the time-outs of proxies, and ' +
      'results may be missing.',
    causes: [
      'The database is slow, or has no connections to spare.',
      'Programs send the API token itself on many calls instead of a Bearer token, which can overload the service.',
      'The machine is short of processor time or memory, or the network is slow.',
    ],
    verify: [
      "curl -sS -o /dev/null -w '%{time_connect} %{time_starttransfer} %{time_total}\\n' BASE_URL/api/management/health",
      'top -b -n1 | head -20',
    ],
    remedies: [
      {
        text: 'Compare with the same call on the machine of the service. If that one is fast, look at the proxy and the network.',
        commands: ["curl -sS -o /dev/null -w '%{time_total}\\n' http://127.0.0.1:8080/api/management/health"],
      },
      {
        text: 'Find the statements that load the database.',
        commands: [
          'psql DATABASE -c "SELECT pid, now() - query_start AS since, state, left(query, 80) FROM pg_stat_activity WHERE state <> \'idle\' ORDER BY 2 DESC"',
        ],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#errors',
  },
]
