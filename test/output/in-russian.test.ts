import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readTexts } from '../../bin/explain-texts.js'
import { documentText } from '../../src/cli/doctor/documents.ts'
import { reportText } from '../../src/cli/doctor/print.ts'
import { translation } from '../../src/core/translation.ts'
import { explainTexts, inLanguage } from '../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../src/knowledge/explain/search/search.ts'
import { explainDocument, explainText } from '../../src/output/explain.ts'
import { fleetText } from '../../src/output/doctor/fleet.ts'
import { beginText } from '../../src/output/init.ts'
import { plainScreen } from '../../src/output/paint.ts'
import { changed, databaseDown, eventful, healthy, ignoring, stuckLock, unknownOnly, warningsOnly } from './reports.ts'

const { translations } = await readTexts(fileURLToPath(new URL('../../explain', import.meta.url)))
// its entries are translated apart from this
const russian = translation({
  ...translations['ru']!,
  entries: {
    'database/changelog-lock': { title: 'блокировка changelog свободна', causes: ['Сервис убили.'] },
    'broker/queues-durable': { title: 'очереди постоянные (durable)' },
    'lock-refused': { meaning: 'Liquibase ждал блокировку changelog.', cause: 'Владелец мёртв.' },
  },
})
const view = { screen: plainScreen, translation: russian }

test.each([
  ['healthy', healthy, 0],
  ['stuck-lock', stuckLock, 1],
  ['database-down', databaseDown, 1],
  ['changed', changed, 1],
  ['warnings-only', warningsOnly, 2],
  ['unknown-only', unknownOnly, 3],
  ['ignoring', ignoring, 2],
] as const)('doctor: %s', async (name, report, exitCode) => {
  const golden = `golden/ru/doctor-${name}`
  await expect(reportText(report, 'table', { ...view, exitCode, verbose: false })).toMatchFileSnapshot(`${golden}.txt`)
  await expect(reportText(report, 'short', { ...view, exitCode, verbose: false })).toMatchFileSnapshot(
    `${golden}-short.txt`,
  )
  const judged = { exitCode, failOn: 'warning', translation: russian } as const
  await expect(documentText(report, 'markdown', judged)).toMatchFileSnapshot(`${golden}.md`)
  expect(documentText(report, 'html', judged)).toContain('<html lang="ru">')
})

test('a page with a time line', async () => {
  const page = documentText(eventful, 'html', { exitCode: 1, failOn: 'warning', translation: russian })
  const body = page.slice(page.indexOf('<body>'), page.indexOf('<script>'))
  await expect(body).toMatchFileSnapshot('golden/ru/doctor-eventful.html')
})

test('formats for programs are the same in every language', () => {
  for (const report of [healthy, stuckLock, ignoring]) {
    const own = { exitCode: 1, failOn: 'warning' } as const
    for (const format of ['junit', 'prometheus'] as const)
      expect(documentText(report, format, { ...own, translation: russian })).toBe(documentText(report, format, own))
    const plain = { screen: plainScreen, exitCode: 1, verbose: false }
    expect(reportText(report, 'json', { ...plain, translation: russian })).toBe(reportText(report, 'json', plain))
  }
})

test('several deployments', () => {
  const examined = [
    { result: healthy, exitCode: 0 },
    { result: { ...stuckLock, deployment: 'test' }, exitCode: 1 },
  ]
  const screen = { ...plainScreen, say: russian.words }
  expect(fleetText(examined, { screen, exitCode: 1, isShort: true })).toMatchInlineSnapshot(`
    "✔ норма           prod  host, сборка 527u01. Всё в порядке: 4 в норме, 1
                            пропущено.
    ✖ ошибка          test  host, сборка 527u01. 1 проблема:
                            database/changelog-lock.

    2 установки: 1 в порядке, 1 с проблемами. Код завершения: 1.
    Дальше: testops-admin doctor -d test
    "
  `)
})

test.each(['database/changelog-lock', 'lock-refused', 'zebra'])('explain %s', async (query) => {
  const document = explainDocument(query, inLanguage(explainSearch(explainTexts)(query), russian))
  await expect(explainText(document, { ...plainScreen, say: russian.words })).toMatchFileSnapshot(
    `golden/ru/explain-${query.replace('/', '-')}.txt`,
  )
})

test('where to begin', () => {
  const screen = { ...plainScreen, say: russian.words }
  expect(beginText({ configuration: '/etc/testops-admin.yaml' }, screen)).toMatchInlineSnapshot(`
    "testops-admin находит неполадки установки testops, показывает подтверждения и
    исправляет их.

    Конфигурация: /etc/testops-admin.yaml.

    С чего начать:
      testops-admin doctor         # говорит, что не так, и ничего не меняет
      testops-admin deployments    # показывает установки из конфигурации
      testops-admin explain TEXT   # объясняет сообщение из лога, неполадку или проверку
      testops-admin lab up         # запускает учебную установку, которую можно ломать
      testops-admin --help         # показывает все команды
    "
  `)
})
