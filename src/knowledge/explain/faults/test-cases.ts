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
      'The service refuses to move a test case to another project with HTTP 409: "Request failed with status ' +
      'code 409". A project cannot hold two automated test cases that differ only in their ids, and it has ' +
      'such a one already. It happens like this: results are imported into project A and create the test ' +
      'cases 1 and 2. You move 2 to project B. Results of the same tests are imported into A again. Test ' +
      'case 2 is no longer there, so the import creates 3. When you move 2 back into A, 3 is there, and is ' +
      'identical. Nothing is broken, and nothing is lost: both test cases stay where they are.',
    causes: [
      'After the test case was moved, results of its test were still imported into the project that it came from.',
      'Results of the same tests are imported into both projects.',
    ],
    verify: [
      'grep -c "Request failed with status code 409" SERVICE_LOG',
      '# in the web interface: look in the project that refuses it for a test case of the same name, with a higher id',
    ],
    remedies: [
      {
        text:
          'Do not move the duplicate back. Continue with the test case that the import created, and leave the ' +
          'other one where it is.',
        commands: [],
      },
      {
        text:
          'Before you move another test case, make sure that the results of its test are imported into the ' +
          'project where it will stay. Otherwise the next import creates it again.',
        commands: [],
      },
    ],
    source: 'docs/facts/service.md#result-files, docs/facts/service.md#errors',
  },
]
