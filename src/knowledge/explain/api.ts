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
      'The address is wrong, or a reverse proxy or firewall stands between and does not let the call through. Where its health alone ' +
        'is not shown, an exchange of the API token, or a page that wants a Bearer token, counts as an answer.',
    ],
    verify: [
      'curl -sS -i BASE_URL/api/management/health',
      'curl -sS -o /dev/null -w "%{http_code}\\n" BASE_URL/swagger-ui.html',
    ],
    remedies: [
      { text: 'Look at the other problems first: one of them may be the reason.', commands: ['testops-admin doctor'] },
      {
        text: 'Call the service from its own machine: where that works, the fault lies in the proxy or the network.',
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
    source: 'docs/facts/service.md#tokens, docs/facts/api.md',
  },
  {
    id: 'api/roles',
    kind: 'check',
    title: "API token's user may migrate trees",
    severities: ['warning'],
    meaning:
      'Versions 5.11 to 5.24 move the trees of test cases to a new structure. A migration that is asked for by hand takes ' +
      'the global role `Администратор`, or the role `Владелец проекта` in the project; other users are answered 403. The ' +
      "roles of the API token's user are read from GET /api/uaa/me, whose fields are not documented: where they are not " +
      'understood, nothing is concluded. In which projects a user is the owner does not show there.',
    causes: ['The API token was made by a user who only tests.', 'The role was taken from that user since.'],
    verify: [
      `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -sS -K - BASE_URL/api/uaa/me   # ACCESS_TOKEN: see testops-admin explain api/token`,
    ],
    remedies: [
      {
        text: 'Have an administrator make an API token in the user menu, and put it where the configuration (`apiToken`) looks for it.',
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
        commands: [
          'systemctl restart testops',
          'kubectl rollout restart deployment/NAME',
          'docker compose restart testops',
        ],
      },
      {
        text: 'Else set the life that is meant, and restart the service.',
        commands: ['testops-admin set-env --token-lifetime 3600'],
      },
      {
        text:
          "By hand: write it into the file that the service's unit reads its environment from, into the chart's values " +
          '(bearerTokenExpirationAfter), or into the file .env of Compose; then restart the service.',
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
      'Programs exchange the API token of the user menu for a Bearer token, which each call bears until its life ends. Some ' +
      'send the API token itself on every call (`Authorization: api-token …`), or exchange it anew for each. Many ' +
      'such calls can overload the service: high processor use, or a crash. Whether they do shows in the log of the proxy ' +
      'before the service (`accessLog` in the configuration), where it records the scheme of the Authorization header. The ' +
      'usual formats do not; from these only needless exchanges are seen.',
    causes: [
      'A plugin, an MCP server or a script sends the API token as it is.',
      'A script exchanges the token before each call, in place of once an hour.',
    ],
    verify: [
      'tail -c 4000000 ACCESS_LOG | grep -cE \'[" ]api-token[" ]\'',
      'tail -c 4000000 ACCESS_LOG | grep -c /api/uaa/oauth/token',
    ],
    remedies: [
      {
        text: 'Have the program exchange the API token once, and send what it gets until shortly before its end.',
        commands: [
          `printf %s "$TOKEN" | curl -sS -H 'Expect:' -F grant_type=apitoken -F scope=openid -F 'token=<-' BASE_URL/api/uaa/oauth/token   # TOKEN: the API token`,
          `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -sS -K - BASE_URL/api/project   # ACCESS_TOKEN: access_token of that answer`,
        ],
      },
      {
        text:
          'Have the proxy record the scheme, and never the whole header, in which the token stands. nginx, in the section ' +
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
    title: 'built-in administrator has a page to sign in at',
    severities: ['warning'],
    meaning:
      'Where an identity provider (LDAP, SAML 2.0 or OpenID Connect) is the main way to sign in, the main page takes its ' +
      'accounts only. The built-in administrator is an account of the service itself, and signs in at /login/system. ' +
      'Which way is the main one does not show from outside; from the access log of the proxy in front of the service (`accessLog` in ' +
      'the configuration) it is seen whether browsers get that page, or are sent elsewhere.',
    causes: [
      'The built-in account is used on the main page, which asks the identity provider.',
      'A proxy sends whoever is not signed in to the identity provider, whatever page was asked for.',
      'A proxy lets only some paths through, and /login/system is none of them.',
    ],
    verify: ['curl -sI BASE_URL/login/system', "tail -c 4000000 ACCESS_LOG | grep -c 'GET.*[^i]/login/system'"],
    remedies: [
      {
        text:
          'Sign in at BASE_URL/login/system with the built-in account. Its password is in the configuration files of the ' +
          'server edition, and in the message that the instance of the cloud edition was created with.',
        commands: [],
      },
      {
        text: 'Where the page does not come: let the proxy pass /login/system and /api/login/system to the service as they are.',
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
      'A proxy before the service answers by itself where a request is larger than it allows (413), where the service takes ' +
      'longer than it waits (504), or where it cannot use what the service answers (502). Results of an upload go missing ' +
      'so. The log of the proxy (`accessLog` in the configuration) tells of each; what it answered while the service was ' +
      'away as a whole, as in a restart, is left out. On Kubernetes the annotations of the Ingress before the service are read, too; what its controller is set to is not. ' +
      'No large request is ever sent to find out.',
    causes: [
      'The largest request that the proxy takes is smaller than what is uploaded (nginx: client_max_body_size, 1 MB unless set).',
      'The proxy waits for a shorter time than large uploads, exports or pages take (nginx: proxy_read_timeout, 60 s unless set).',
      'The head of an answer, with its cookies, is larger than the proxy takes (nginx: proxy_buffer_size).',
    ],
    verify: [
      `tail -c 4000000 ACCESS_LOG | grep -cE '("|":"?) ?(413|502|504)[ ,"}]'`,
      "sudo nginx -T | grep -nE 'client_max_body_size|proxy_read_timeout|proxy_buffer_size'",
      "kubectl get ingress -o yaml | grep -nE 'body-size|read-timeout|timeout-server'",
      "kubectl get configmap -A -l app.kubernetes.io/name=ingress-nginx -o yaml | grep -nE 'proxy-body-size|proxy-read-timeout'",
    ],
    remedies: [
      {
        text: 'Raise the limit in the proxy, and in every router and firewall on the way; result files are up to 2 MB, attachments larger.',
        commands: ['sudo nginx -t', 'sudo nginx -s reload', 'testops-admin doctor --only api/proxy'],
      },
      {
        text: 'Where requests are cut for their time, see first why the service takes so long.',
        commands: ['testops-admin explain api/latency'],
      },
    ],
    source:
      'docs/facts/service.md#errors, docs/facts/service.md#result-files, nginx.org, ngx_http_core_module and ngx_http_proxy_module',
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
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#errors',
  },
]
