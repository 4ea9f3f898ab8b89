import { expect, test } from 'vitest'
import { faults } from '../../../src/lab/fault-list.ts'
import { checks } from '../../../src/checks/index.ts'
import { explainEntries, explainTexts } from '../../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../../src/knowledge/explain/search/search.ts'
import { signatures } from '../../../src/knowledge/signatures.ts'

const search = explainSearch(explainTexts)
const idsOf = (query: string): string[] => search(query).found.map(({ entry }) => entry.id)

/** What a service with Liquibase 4.28.0 says at its end, as pasted from its log. */
const stolen =
  'liquibase.lockservice : Successfully released change log lock\n' +
  'liquibase.exception.LockException: Could not acquire change log lock.  ' +
  'Currently locked by testops-7d9f8c5b6-q8zkn (10.42.0.191) since 11/21/26, 2:12 AM'

test.each<[query: string, found: string[], nearest: string[]]>([
  ['database/changelog-lock', ['database/changelog-lock'], []],
  ['  Database/Changelog-Lock ', ['database/changelog-lock'], []],
  ['"stuck-lock"', ['stuck-lock'], []],
  ['stuck-lock/waiting', ['stuck-lock'], []],
  ['sessions', ['sessions/reachable', 'sessions/clock', 'sessions/memory'], []],
  ['sessions/*', ['sessions/reachable', 'sessions/clock', 'sessions/memory'], []],
  ['queues-durable', ['broker/queues-durable'], []],
  ['Successfully released change log lock', ['lock-released'], []],
  [stolen, ['lock-stolen', 'stuck-lock', 'live-lock', 'database/changelog-lock', 'lock-refused', 'lock-released'], []],
  ['Successfully acquired change log lock', ['lock-taken'], []],
  ['database/changelog-lok', [], ['database/changelog-lock']],
  ['sesions/clok', [], ['sessions/clock']],
  ['stuck-lok', [], ['stuck-lock']],
  ['quarentine', ['quarantine'], []],
  [
    'databse',
    ['database-down', 'database/reachable', 'database/connections', 'database/disk', 'connections-exhausted'],
    [],
  ],
  ['zebra hypervisor tapir', [], ['cpu-without-v3']],
  ['', [], []],
  [' \n ', [], []],
  ['/', [], []],
])('%j finds %j', (query, found, nearest) => {
  const answer = search(query)
  const ids = answer.found.map(({ entry }) => entry.id)
  expect(found.length === 1 ? ids.slice(0, 1) : ids).toEqual(found)
  expect(answer.nearest.slice(0, 1)).toEqual(nearest)
})

test.each([
  ['cut at its end', 'o.s.boot.SpringApplication : Could not acquire change lo\u2026', 'stuck-lock'],
  ['cut at both ends', 'not acquire change log', 'stuck-lock'],
  ['cut at its beginning', 'cquire change log lock.  Currently locked by testops-7d9f', 'stuck-lock'],
  [
    'broken at the edge of a screen',
    'liquibase.exception.LockException: Could not acq\nuire change log lock.  Currently locked b\ny testops-7d9f',
    'stuck-lock',
  ],
  ['of the web interface', 'Не удается установить соед', 'cannot-connect'],
])('a message is known that is %s', (_, query, id) => {
  expect(idsOf(query)[0]).toBe(id)
})

test.each([
  ['Request failed with status code 401. The expected CSRF token could not be found', ['stale-sessions']],
  ['Request failed with status code 401', ['stale-sessions', 'token-refused']],
  ['Request failed with status code 409', ['duplicate-move']],
  ['Request failed with status code 504', ['proxy-limits']],
  ['Request failed with status code 500', []],
])('a status says what it says, and nothing of another: %s', (query, ids) => {
  expect(
    search(query)
      .found.flatMap(({ entry }) => (entry.kind === 'fault' ? entry.id : []))
      .sort(),
  ).toEqual(ids)
})

test.each([
  ['Несвязанный'.normalize('NFD'), 'unlinked'],
  ['«Несвязанный»', 'unlinked'],
  ['Несвязанный', 'unlinked'],
  ['несвязанные', 'unlinked'],
  ['Неизвестный', 'unknown-status'],
  ['в очереди', 'queued'],
  ['Перезапусков', 'reruns'],
  ['Комбинации параметров', 'parameter-combinations'],
  ['Владелец проекта', 'project-owner'],
  ['Администратор', 'administrator'],
  ['Деревья', 'tree-settings'],
  ['Убрать из карантина', 'quarantine'],
  ['карантине', 'quarantine'],
  ['«Не удаётся установить соединение»', 'cannot-connect'],
  ['НЕ УДАЕТСЯ УСТАНОВИТЬ\nСОЕДИНЕНИЕ!', 'cannot-connect'],
  ['Select a definition', 'api-definition'],
])('the web interface: %j is %s', (query, id) => {
  expect(idsOf(query)[0]).toBe(id)
})

test.each([
  ['тесты зависли в очереди', 'volatile-parameter'],
  ['не видны вложения', 'nested-attachment'],
  ['нет вложений у успешных тестов', 'skipped-attachments'],
  ['правила очистки вложений', 'clean-up-rules'],
  ['запуск пустой', 'empty-results'],
  ['пароль администратора', 'administrator-password'],
  ['не могу войти под администратором', 'admin-signin'],
  ['дерево отображается неправильно', 'trees-unmigrated'],
  ['процессор не поддерживает x86-64-v3', 'cpu-without-v3'],
  ['имя пользователя или почта?', 'user-names'],
  ['пробел в конце пароля', 'bad-credentials'],
  ['динамические параметры', 'volatile-parameter'],
  ["(error) ERR unknown command 'FLUSHALL', with args beginning with: ", 'flush-disabled'],
  [
    'javax.net.ssl.SSLHandshakeException: PKIX path building failed: unable to find valid certification path ' +
      'to requested target',
    'cannot-connect',
  ],
  ['admin password', 'administrator-password'],
  ['user name or e-mail', 'user-names'],
  ['ldap', 'admin-signin'],
  ['/login/system', 'admin-signin'],
  ['swagger', 'api-definition'],
  ['indexExistingFiles', 'files-before-agent'],
  ['cleanup rules', 'clean-up-rules'],
  ['reverse proxy timeout', 'proxy-limits'],
  ['expired bearer token', 'token-expired'],
  ['token expired', 'token-expired'],
  ['launch is empty', 'empty-results'],
  ['HTTP 413', 'proxy-limits'],
  ['ALLURE_RABBIT_DURABLE', 'transient-refused'],
  ['LOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION=debug', 'debug-left-on'],
  ['Connection refused: no further information', 'service-down'],
  ['CrashLoopBackOff', 'service/crashes'],
  ['тест в карантине не учитывается в статистике', 'quarantine'],
  ['вход через LDAP не работает для администратора', 'admin-signin'],
  ['таймаут nginx при загрузке результатов', 'proxy-limits'],
  ['как выбрать определение API', 'api-definition'],
])('a few words: %j is told by %s', (query, id) => {
  expect(idsOf(query)[0]).toBe(id)
})

test('every entry is found by its id alone, and ids are unique', () => {
  expect(new Set(explainTexts.map(({ id }) => id)).size).toBe(explainTexts.length)
  for (const { id } of explainTexts) {
    const { found } = search(id)
    expect(found.map(({ entry, score }) => [entry.id, score])).toEqual([[id, 1]])
  }
})

test('every check, signature and fault of the lab has a text', () => {
  const kinds = new Map(explainEntries.map(({ id, kind }) => [id, kind]))
  for (const { id } of checks) expect([id, kinds.get(id)]).toEqual([id, 'check'])
  // a fault may bear the same name
  for (const { id } of signatures)
    expect([id, ['signature', 'fault'].includes(kinds.get(id) ?? '')]).toEqual([id, true])
  for (const { id, kind } of faults)
    if (kind === 'fault') expect([id, ['signature', 'fault'].includes(kinds.get(id) ?? '')]).toEqual([id, true])
})

test('a fault goes on with the text of a check that names it', () => {
  for (const fault of faults) {
    const text = explainTexts.find(({ id }) => id === fault.id)
    const named = fault.cases.flatMap(({ expected }) => Object.keys(expected.problems))
    if (text && 'of' in text && named.length > 0) expect([fault.id, named.includes(text.of)]).toEqual([fault.id, true])
  }
})

test('an exact id scores 1, a message and a guess less, and the best comes first', () => {
  expect(search('api/token').found.map(({ score }) => score)).toEqual([1])
  for (const query of ['expected CSRF token could not be found', 'session store', 'UnknownHostException HTTP FAILED']) {
    const scores = search(query).found.map(({ score }) => score)
    expect(scores.length).toBeGreaterThan(0)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(Math.max(...scores)).toBeLessThan(1)
  }
})
