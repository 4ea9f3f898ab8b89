import type { ExplainText } from '../entry.ts'

/** Ids are those of the fault matrix. */
export const apiFaults: readonly ExplainText[] = [
  {
    id: 'token-refused',
    kind: 'fault',
    of: 'api/token',
    title: 'the API token is not accepted',
    meaning: 'The service refuses to exchange the API token for a Bearer token.',
    signatures: ['token-refused'],
    // what the web interface says beside it is another story
    messages: [/status code 401\W{0,10}$/],
    words: [
      'wrong api token, bad credentials, unauthorized 401',
      'токен не принимается, неверный api токен, нет авторизации',
    ],
  },
  {
    id: 'api-token-direct',
    kind: 'fault',
    of: 'api/token-use',
    title: 'a program sends the API token itself on many calls',
    meaning:
      'The service is under load or crashes, and its processor is busy, while an integration makes many API calls.',
    words: [
      'using the user-menu API token directly for many API calls can overload the service, high processor use',
      'authorization: api-token',
      'перегрузка сервиса вызовами api',
    ],
  },
  {
    id: 'token-lifetime',
    kind: 'fault',
    of: 'api/token-lifetime',
    title: 'Bearer tokens have another lifetime than is set',
    meaning: 'Programs get 401 earlier than they expect.',
    words: [
      'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS, lifetime of the bearer token in seconds',
      'время жизни bearer токена',
    ],
  },
  {
    id: 'admin-signin',
    kind: 'fault',
    of: 'api/system-login',
    title: 'the built-in administrator cannot sign in',
    meaning: 'The sign-in page refuses the built-in administrator account, or asks an identity provider for it.',
    messages: ['/login/system'],
    words: [
      'admin cannot log in, admin login',
      'вход через ldap, вход через saml не работает для администратора',
      'cannot sign in as administrator, wrong account type',
      'login with built-in local account when LDAP, SAML 2.0, OpenID Connect is the main method',
      'не могу войти как администратор, не удаётся войти под администратором, вход встроенной учётной записи',
    ],
    see: ['administrator-password'],
  },
  {
    id: 'api-slow',
    kind: 'fault',
    of: 'api/latency',
    title: 'the service answers slowly',
    meaning: 'Pages take seconds, and uploads run into time-outs.',
    words: ['slow api, slow pages, latency', 'сервис медленно отвечает, страницы долго открываются, тормозит'],
  },
  {
    id: 'proxy-limits',
    kind: 'fault',
    of: 'api/proxy',
    title: 'a proxy, router or firewall cuts large or slow requests',
    meaning: 'Results are missing after an import, and the proxy answers 413, 502 or 504.',
    causes: [
      'Time-outs of network equipment or of the reverse proxy are shorter than large uploads take.',
      'Limits on the size of data are smaller than the uploads.',
      'A firewall rule blocks the requests.',
    ],
    messages: [
      /status code (?:413|502|504)\b/,
      '413 request entity too large',
      '502 bad gateway',
      '504 gateway time-out',
      '504 gateway timeout',
    ],
    words: [
      'upload fails behind nginx, upload is answered 413, upload 413, upload 502, upload 504, nginx 413',
      'upload times out, upload timeout, results get lost during the upload',
      'загрузка обрывается через прокси',
      'таймаут nginx, таймаут при загрузке результатов',
      'results missing at import, network equipment or reverse proxy timeouts, data-size limits or blocking rules',
      'proxy timeout, nginx, firewall, upload is cut off',
      'результаты теряются при импорте, таймаут прокси, ограничение размера',
    ],
  },
  {
    id: 'no-migration-role',
    kind: 'fault',
    of: 'api/roles',
    title: "the API token's user may not migrate trees",
    meaning: 'A migration of trees fails with 403.',
    words: ['forbidden 403 for tree migration', 'нет прав на миграцию деревьев'],
  },
  {
    id: 'trees-unmigrated',
    kind: 'fault',
    of: 'trees/migrated',
    title: 'trees of test cases are displayed incorrectly',
    meaning: 'The web interface shows a tree of test cases wrongly.',
    words: [
      'tree is broken after an upgrade, tree is wrong, test cases are missing from the tree',
      'edit tree settings: rename or add a grouping level, save, revert, save, or call endpoints',
      'tree displayed incorrectly, versions 5.11 to 5.24',
      'tree data is being migrated to a new structure',
      'дерево тест-кейсов отображается неправильно, некорректно, деревья сломались',
    ],
    see: ['tree-settings'],
  },
]
