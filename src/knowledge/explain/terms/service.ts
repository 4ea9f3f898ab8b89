import type { ExplainText } from '../entry.ts'

/** What an operator meets in the service that no check judges. */
export const serviceTerms: readonly ExplainText[] = [
  {
    id: 'tree-settings',
    kind: 'term',
    of: 'trees/migrated',
    title: "Деревья (trees): the part of a project's settings for its trees of test cases",
    severities: [],
    meaning:
      'They are under `Настройки` → `Деревья` (settings, trees). You can rename a tree there, and add or ' +
      'remove levels of grouping.',
    names: ['Деревья', 'Настройки → Деревья'],
    words: [
      'edit tree settings: rename or add a grouping level, save, revert',
      'test case trees settings, grouping levels',
      'настройки деревьев, настройки деревья, уровень группировки',
    ],
  },
  {
    id: 'api-definition',
    kind: 'term',
    title: 'Select a definition: which part of the API the reference shows',
    severities: [],
    meaning:
      'The reference of the API (BASE_URL/swagger-ui.html) has this selector in its upper right corner. ' +
      'Report Service: methods to create, change and read test cases, results, launches and the like. UAA ' +
      'Service: access rights, users and licences. All Services: both. If a method is missing, it is in ' +
      'another view. There is no public API: these are the calls of the web interface, and may change with it.',
    causes: ['The selected view is not the one that has the method.'],
    verify: ['curl -sS -o /dev/null -w "%{http_code}\\n" BASE_URL/swagger-ui.html'],
    remedies: [
      {
        text: "Select All Services, expand the method, and press `Try it out`: it shows the result and the same call for cURL. The browser's cookie signs it.",
        commands: [],
      },
      { text: 'For calls from outside, use a Bearer token.', commands: ['testops-admin explain bearer-token'] },
    ],
    source: 'docs/facts/service.md#what-it-is, docs/facts/service.md#administrator, docs/facts/service.md#versions',
    names: ['Select a definition', 'Report Service', 'UAA Service', 'All Services'],
    words: [
      'select a definition, swagger-ui, api reference, report service, uaa service, all services',
      'выбор определения api, документация api, swagger',
    ],
    see: ['bearer-token', 'result-import'],
  },
  {
    id: 'flush-disabled',
    kind: 'term',
    title: "ERR unknown command 'FLUSHALL': the session store has no command that empties it",
    severities: [],
    meaning:
      'Redis answers this if its administrator has disabled FLUSHALL and FLUSHDB. The Redis of the Helm ' +
      'chart is set up like that (`disableCommands`). Sessions can still be deleted.',
    causes: ['The commands are disabled or renamed in the configuration of Redis.'],
    verify: ['redis-cli -h HOST COMMAND INFO flushall   # an empty answer: there is none'],
    remedies: [
      {
        text: 'Delete the sessions one by one. That needs neither command, and leaves everything else in the store alone.',
        commands: ['testops-admin flush-sessions'],
      },
    ],
    source: 'docs/facts/deployment.md#chart, docs/facts/sessions.md',
    messages: [/unknown command '?`?flush(?:all|db)/],
    words: ['flushall disabled, flushdb renamed, redis unknown command', 'команда flushall отключена'],
    see: ['stale-sessions'],
  },
  {
    id: 'result-import',
    kind: 'term',
    title: 'import of results: only by the plugins and the uploader',
    severities: [],
    meaning:
      'The API methods that import results are not for use from outside: they can change at any time, ' +
      'without notice and without support. You may use all other methods that the reference describes.',
    causes: ['Your own program uploads results through the API.'],
    verify: ['# in the CI system: what uploads the results'],
    remedies: [
      { text: "Upload with a plugin of the CI system, or with the uploader's command `upload`.", commands: [] },
    ],
    source: 'docs/facts/service.md#what-it-is, docs/facts/service.md#result-files, docs/facts/service.md#versions',
    words: [
      'allurectl',
      'import test results through the api, uploader, agent',
      'импорт результатов через api, загрузка результатов',
    ],
    see: ['files-before-agent', 'empty-results'],
  },
]
