import type { ExplainText } from '../entry.ts'

export const testCasesFaults: readonly ExplainText[] = [
  {
    id: 'duplicate-move',
    kind: 'fault',
    title: 'a test case cannot be moved: its new project holds an identical one',
    severities: ['warning'],
    signatures: ['conflict'],
    messages: [/status code 409\b/],
    words: [
      'moving a test answers conflict, conflict while a test case is moved',
      'a test case is moved to another project that already holds an automated test case with the same metadata',
      'duplicate test case, HTTP 409 conflict',
      'тест-кейс не переносится в другой проект, ошибка 409, дубликат тест-кейса',
    ],
    meaning:
      'Moving a test case to another project is refused with HTTP 409: "Request failed with status code 409". A project holds no two ' +
      'automated test cases that differ in nothing but their ids, and has one like it already. It comes about so: results imported into ' +
      'project A make the test cases 1 and 2; 2 is moved to project B; results of the same tests are imported into A again, where 2 ' +
      'is no longer found, so that 3 is made; when 2 is to be moved back into A, 3 is there, and is identical. Nothing is broken, ' +
      'and nothing is lost: both test cases stay where they are.',
    causes: [
      'After the test case was moved, results of its test went on being imported into the project that it came from.',
      'Results of the same tests are imported into both projects.',
    ],
    verify: [
      'grep -c "Request failed with status code 409" SERVICE_LOG',
      '# in the web interface: look in the project that refuses it for a test case of the same name, with a higher id',
    ],
    remedies: [
      {
        text: 'Do not move the duplicate back. Go on with the test case that the import has made, and leave the other one where it is.',
        commands: [],
      },
      {
        text:
          'Before another test case is moved, have the results of its test imported into the project where it is to stay; else the next ' +
          'import makes it anew.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
]
