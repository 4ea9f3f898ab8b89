import type { ExplainText } from '../entry.ts'

/** Who signs in where, and what with. */
export const accessTerms: readonly ExplainText[] = [
  {
    id: 'administrator-password',
    kind: 'term',
    title: "where to find the built-in administrator's password",
    severities: [],
    meaning:
      'The built-in administrator is an account of the service itself. Server edition: its password is in ' +
      'the configuration files of the instance. Cloud edition: it is in the message that came when the ' +
      'instance was created. If LDAP, SAML 2.0 or OpenID Connect is the main way to sign in, this account ' +
      'signs in at /login/system.',
    causes: ['Nobody knows the password, or somebody tried the password of another kind of account.'],
    verify: ['testops-admin doctor --only api/system-login', 'curl -sI BASE_URL/login/system'],
    remedies: [
      {
        text: 'Take the password from the configuration or from that message, and sign in at BASE_URL/login/system.',
        commands: ['testops-admin explain admin-signin'],
      },
    ],
    source: 'docs/facts/service.md#administrator, docs/facts/service.md#tokens',
    words: [
      'найти пароль админа, пароль администратора по умолчанию',
      'admin password, default password',
      'administrator password, admin password, built-in administrator account',
      'пароль администратора, где взять пароль администратора',
    ],
    see: ['admin-signin'],
  },
  {
    id: 'administrator',
    kind: 'term',
    title: 'Администратор (administrator): global role',
    severities: [],
    meaning: 'A user with this role may migrate the trees of every project.',
    causes: ['A user who lacks this role, and does not own the project, gets 403 for a migration of its trees.'],
    verify: ['testops-admin whoami'],
    remedies: [
      {
        text: 'Ask a user with this role to create the API token in the user menu.',
        commands: ['testops-admin explain api/roles'],
      },
    ],
    source: 'docs/facts/service.md#trees',
    names: ['Администратор'],
    words: ['global role administrator', 'глобальная роль администратор'],
    see: ['project-owner', 'api/roles'],
  },
  {
    id: 'project-owner',
    kind: 'term',
    title: 'Владелец проекта (project owner): role in a project',
    severities: [],
    meaning: 'A user with this role may migrate the trees of that project, but of no other.',
    causes: ['A user who has this role only in other projects gets 403 here.'],
    verify: ['testops-admin whoami'],
    remedies: [
      {
        text: 'Migrate the trees of the projects that the user owns.',
        commands: ['testops-admin migrate-trees --project ID'],
      },
    ],
    source: 'docs/facts/service.md#trees',
    names: ['Владелец проекта'],
    words: ['project role owner', 'роль владелец проекта'],
    see: ['administrator', 'api/roles'],
  },
  {
    id: 'user-names',
    kind: 'term',
    title: 'forms of user names, and spaces at the ends of passwords',
    severities: [],
    meaning:
      'Some integrations take a user by name, others by e-mail address. It depends on the external system, ' +
      'and the two are rarely interchangeable. A password or token must not begin or end with a space: ' +
      'spaces count as characters.',
    causes: ['The user name has the other form.', 'A space was copied with the password or token.'],
    verify: ['testops-admin check-integration --url URL --user NAME --password-from @FILE'],
    remedies: [
      {
        text: 'Write the user name as at the sign-in of the external system itself, and the password without blanks at its ends.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#tokens',
    words: [
      'user name or e-mail, form of the user name of an integration',
      'leading or trailing spaces in password or token',
      'имя пользователя или почта, имя пользователя или email, логин или почта, пробелы в начале и в конце пароля или токена',
    ],
    see: ['bad-credentials'],
  },
  {
    id: 'bearer-token',
    kind: 'term',
    title: 'API token and Bearer token: which one is sent when',
    severities: [],
    meaning:
      'You create the API token in the user menu. It serves for one thing: you exchange it (POST ' +
      '/api/uaa/oauth/token) for a Bearer token, which every call carries. A Bearer token lives for an hour ' +
      'unless VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS says otherwise. After that, you get a new one. Many ' +
      'calls with the API token itself can overload the service.',
    causes: ['A program sends the API token itself, or keeps a Bearer token for longer than it lives.'],
    verify: ['testops-admin whoami', 'testops-admin doctor --only api/token,api/token-use'],
    remedies: [{ text: 'In a script, take the Bearer token from this program.', commands: ['testops-admin token'] }],
    source: 'docs/facts/service.md#tokens',
    words: [
      'exchange api token for bearer token jwt access_token, grant_type apitoken',
      'получить bearer токен, обменять api токен',
    ],
    see: ['api/token', 'token-expired', 'api-token-direct'],
  },
  {
    id: 'cannot-connect',
    kind: 'term',
    title:
      'Не удается установить соединение (cannot establish connection): an integration does not reach its external system',
    severities: [],
    meaning:
      'The web interface says this if an integration cannot work with the external system. There are three ' +
      'possible reasons. The log of the service and a call to the external system tell you which one it is.',
    causes: [
      'The credentials are wrong, have blanks at their ends, or give the user name in the wrong form.',
      'There is no connection: the name does not resolve (java.net.UnknownHostException), nothing answers at ' +
        'its address, or its certificate is not trusted.',
      'The API of the external system has changed (400 bad request, HTTP FAILED).',
    ],
    verify: [
      'testops-admin check-integration --url URL --user NAME --password-from @FILE',
      'testops-admin scan-logs',
      "grep -iE 'UnknownHostException|HTTP FAILED|400 bad request' SERVICE_LOG | tail",
    ],
    remedies: [
      { text: 'Wrong credentials.', commands: ['testops-admin explain bad-credentials'] },
      { text: 'A name that does not resolve.', commands: ['testops-admin explain unknown-host'] },
      { text: 'A changed API.', commands: ['testops-admin explain integration-400'] },
      {
        text:
          'If the log says nothing about it, switch debug logging on, repeat what fails, read the log, and ' +
          'switch it off again.',
        commands: ['testops-admin set-env --integration-debug on   # off again afterwards', 'testops-admin scan-logs'],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#errors',
    messages: ['не удается установить соединение'],
    words: [
      'integration cannot connect, integration connection failed, cannot connect to the external system',
      'соединение с внешней системой не устанавливается',
      'integration does not work',
      'интеграция не работает',
      'cannot establish connection',
      'integration certificate: SSLHandshakeException, PKIX path building failed, unable to find valid certification path to requested target',
      'integration: javax.net.ssl, certificate has expired, certificate is not trusted',
      'сертификат внешней системы, просрочен сертификат интеграции',
      'an integration cannot reach the external system: wrong credentials, no connectivity, or the external API changed',
      'интеграция не работает, не удалось установить соединение с внешней системой',
    ],
    see: ['bad-credentials', 'unknown-host', 'integration-400'],
  },
]
