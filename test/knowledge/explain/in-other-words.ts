/** What operators type who meet a fault, in their own words, with the entry that they are to read. */
export const inOtherWords: readonly [finds: string, said: readonly string[]][] = [
  [
    'pool-exhausted',
    [
      'HikariPool-1 - Connection is not available, request timed out after 30000ms.',
      'HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=12)',
      'pool exhausted',
      'connection pool exhausted',
      'the connection pool is exhausted',
      'pool-exhausted',
      'Unable to acquire JDBC Connection',
      'org.hibernate.exception.JDBCConnectionException: Unable to acquire JDBC Connection',
      'java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after 30001ms.',
      'пул соединений исчерпан',
      'исчерпан пул подключений к базе данных',
    ],
  ],
  [
    'connections-exhausted',
    [
      'FATAL: remaining connection slots are reserved for non-replication superuser connections',
      'too many connections to the database',
      'не хватает соединений с базой',
      'слишком много подключений к базе',
    ],
  ],
  [
    'broker-alarm',
    [
      'memory resource limit alarm set on node rabbit@host',
      'memory watermark',
      'vm_memory_high_watermark set. Memory used:1024 allowed:900',
      'rabbitmq memory high watermark',
      'disk resource limit alarm set on node rabbit@host',
      'Free disk space is insufficient. Free bytes: 40000000. Limit: 50000000',
      'connection.blocked: low on memory',
      'disk_free_limit',
      'rabbitmq блокирует публикацию, порог памяти',
      'превышен порог памяти rabbitmq',
    ],
  ],
  [
    'image-not-pulled',
    [
      'ImagePullBackOff',
      'ErrImagePull',
      'Back-off pulling image "registry.example/testops:526u03"',
      'Failed to pull image "registry.example/testops:26.2.1": rpc error: code = NotFound desc = failed to pull and unpack image',
      'image cannot be pulled',
      'cannot pull the image',
      'manifest for registry.example/testops:526u03 not found: manifest unknown: manifest unknown',
      'manifest unknown',
      'pull access denied for testops, repository does not exist or may require \'docker login\'',
      'не удаётся скачать образ',
      'образ не скачивается',
    ],
  ],
  [
    'legacy-too-early',
    [
      'testops-legacy image cannot be pulled',
      'не удаётся скачать образ testops-legacy',
      'Failed to pull image "registry/testops-legacy:526u03"',
    ],
  ],
  [
    'duplicate-move',
    [
      'moving a test case to another project fails with 409',
      'can\'t move test case between projects, conflict',
      'test case cannot be moved, error 409',
      'не могу перенести тест-кейс в другой проект, ошибка 409',
      'не переносится тест-кейс в другой проект',
      'при переносе тест-кейса ошибка 409',
      'тест-кейс не перемещается обратно, дубликат',
      'конфликт при переносе теста',
    ],
  ],
  [
    'stale-sessions',
    [
      'users cannot log in, CSRF token missing',
      'login fails with 401 csrf',
      'nobody can log in after the clock was changed',
      'CSRF token not found when I log in',
      'пользователи не могут залогиниться, csrf',
      'ошибка 401 при входе в веб',
      'не могу залогиниться, 401',
      'не пускает в систему, CSRF токен не найден',
      'при входе пишет что CSRF токен не найден',
      'сессия устарела, не могу войти',
      'session is expired, cannot sign in',
    ],
  ],
  [
    'cannot-connect',
    [
      'integration with jira cannot connect',
      'jira integration not working',
      'cannot connect to Jira',
      'integration connection failed',
      'не работает интеграция с jira',
      'нет соединения с jira',
      'не подключается к jira',
      'ошибка подключения интеграции',
      'интеграция не подключается',
      'не удалось подключиться к внешней системе',
    ],
  ],
  [
    'cpu-without-v3',
    [
      'processor is too old',
      'cpu too old for the image',
      'CPU not supported',
      'container exits at once, x86-64-v3',
      'процессор слишком старый',
      'контейнер падает, cpu не поддерживается',
      'glibc error cpu',
    ],
  ],
  [
    'stuck-lock',
    [
      'service does not start, liquibase lock',
      'liquibase lock stuck',
      'changelog is locked',
      'database is locked after crash',
      'waiting for lock forever',
      'lock was not released after a crash',
      'сервис не стартует, ждёт блокировку',
      'зависла блокировка liquibase',
      'не снимается блокировка базы',
      'блокировка changelog не снята после падения',
      'база данных заблокирована после аварийной остановки',
      'не удалось получить блокировку changelog',
    ],
  ],
  [
    'transient-refused',
    [
      'queues are not created after rabbitmq upgrade',
      'rabbitmq 4.3 refuses queues',
      'cannot declare queue, rabbitmq 4.3',
      'broker refuses to create queues',
      'очереди не создаются rabbitmq 4.3',
      'rabbitmq не даёт создать очереди',
      'не создаются очереди после обновления брокера',
    ],
  ],
  [
    'durable-mismatch',
    [
      'queue exists with durable false',
      'queue durable differs',
      'PRECONDITION_FAILED durable',
      'durable не совпадает',
      'очередь уже существует с другим durable',
    ],
  ],
  [
    'no-identifier',
    [
      'results are not linked to test cases',
      'results do not match test cases',
      'результаты не привязываются к тест-кейсам',
      'результаты не связаны с тест-кейсами',
      'тесты не связываются с тест-кейсами',
    ],
  ],
  [
    'unlinked',
    [
      'test results unlinked',
      'тесты несвязанные',
    ],
  ],
  [
    'empty-results',
    [
      'launch is empty',
      'no results in launch',
      'launch without results',
      'launch from Jenkins is empty',
      'nothing shows up in the launch',
      'no tests in the launch',
      'results are not uploaded',
      'пустой запуск из jenkins',
      'в запуске нет результатов',
      'лаунч пустой',
      'результаты не загрузились',
      'результаты не загружаются',
      'запуск без результатов',
      'в лаунче ничего нет',
    ],
  ],
  [
    'files-before-agent',
    [
      'files indexed but not processed',
      'indexed 17 processed 0 errors 17',
      'agent does not process files',
      'agent found files but processed none',
      'файлы не обрабатываются агентом',
      'агент проиндексировал файлы, но не обработал',
      'processed 0',
    ],
  ],
  [
    'quarantine',
    [
      'some tests are missing from the launch',
      'some results are missing',
      'part of the results is missing',
      'not all tests are shown in the launch',
      'часть тестов пропала из запуска',
      'не хватает тестов в лаунче',
      'пропала часть результатов',
    ],
  ],
  [
    'oversize-result',
    [
      'result file is too big',
      'result json too large',
      'big result file becomes an attachment',
      'файл результата больше 2 МБ',
      'большой файл результата не загружается',
      'слишком большой json',
    ],
  ],
  [
    'proxy-limits',
    [
      'results get lost during upload',
      'upload fails behind nginx',
      '413 when uploading',
      '504 on upload',
      'upload times out',
      'результаты теряются при загрузке',
      'загрузка обрывается через прокси',
      'ошибка 413 при загрузке',
      'nginx 413',
    ],
  ],
  [
    'name-collision',
    [
      'only one result shown for many tests',
      'many tests collapse into one',
      'several tests are shown as one result',
      'tests with the same name',
      'тесты с одинаковым именем',
      'тесты схлопываются в один',
      'вместо многих тестов показан один',
      'несколько тестов показаны как один результат',
    ],
  ],
  [
    'parameters-missing',
    [
      'parameterized tests shown as one',
      'параметризованные тесты схлопнулись в один',
    ],
  ],
  [
    'volatile-parameter',
    [
      'tests are stuck in the queue',
      'tests hang in queued',
      'tests stay in queue after the run',
      'тесты висят в очереди',
      'тест завис в очереди',
      'тесты навсегда в очереди',
    ],
  ],
  [
    'nested-attachment',
    [
      'attachments are not shown',
      'attachments missing',
      'screenshots are missing',
      'no screenshots in the launch',
      'attachments not visible in testops',
      'не отображаются вложения',
      'нет скриншотов',
      'пропали скриншоты',
      'не вижу вложения',
      'вложения есть в отчёте, но нет в сервисе',
    ],
  ],
  [
    'trees-unmigrated',
    [
      'tree is wrong',
      'tree is broken after upgrade',
      'test case tree is displayed wrong',
      'test tree shows wrong',
      'дерево сломалось',
      'дерево тестов показывается неверно',
      'сломалось дерево после обновления',
      'тест-кейсы пропали из дерева',
    ],
  ],
  [
    'admin-signin',
    [
      'admin cannot log in',
      'admin login does not work',
      'cannot login as admin',
      'админ не может войти',
      'не могу залогиниться админом',
      'не пускает админа',
      'не входит под админом',
    ],
  ],
]

/** The same with one letter wrong. */
export const mistyped: readonly [finds: string, said: readonly string[]][] = [
  [
    'quarantine',
    [
      'quarentine',
      'карантн',
    ],
  ],
  [
    'nested-attachment',
    [
      'attachements are not shown',
    ],
  ],
  [
    'broker-alarm',
    [
      'memory watermrk',
    ],
  ],
  [
    'stuck-lock',
    [
      'Could not aquire change log lock',
      'Waitng for changelog lock',
    ],
  ],
  [
    'cannot-connect',
    [
      'Не удаеться установить соединение',
      'Не удаётся устновить соединение',
    ],
  ],
  [
    'duplicate-move',
    [
      'Request failed with status cod 409',
    ],
  ],
  [
    'durable-mismatch',
    [
      'PRECONDITION_FALED',
    ],
  ],
  [
    'volatile-parameter',
    [
      'тесты зависли в очериди',
    ],
  ],
  [
    'empty-results',
    [
      'запуск пустй',
    ],
  ],
  [
    'admin-signin',
    [
      'cannot sign in as adminstrator',
    ],
  ],
  [
    'stale-sessions',
    [
      'The expected CSFR token could not be found',
    ],
  ],
]
