import type { ExplainText } from '../entry.ts'

export const tokenFaults: readonly ExplainText[] = [
  {
    id: 'token-expired',
    kind: 'fault',
    title: 'a Bearer token is past its life',
    severities: ['warning'],
    meaning:
      'Calls with a Bearer token are answered 401 once it is past its life. It lives for VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS (one hour unless set); ' +
      'after that whoever calls the service exchanges the API token for a new one. This program does so without a word, shortly before the end and ' +
      'after a 401, so that work of any length goes on, and nothing is reported. A program that does not fails after its first hour.',
    causes: [
      'The work has lasted longer than the life of a token: that is as it should be.',
      'The service was started again with another JWT secret: every token of before is refused.',
      'The clocks of the service and of the machine that issued the token disagree, so that a token is over too early.',
    ],
    verify: [
      'printf %s "$ACCESS_TOKEN" | cut -d. -f2 | base64 -d 2> /dev/null; date +%s   # exp: when it ends, in seconds as date shows them',
    ],
    remedies: [
      {
        text: 'Nothing is to be done for this program: see that the API token is still exchanged.',
        commands: ['testops-admin doctor --only api/token'],
      },
      {
        text: 'Have other programs exchange the API token again shortly before the end of the Bearer token, and once after a 401.',
        commands: [],
      },
      {
        text: 'Where tokens are over as soon as they are issued, look at the clocks and at the life that is set.',
        commands: ['testops-admin doctor --only service/clocks,api/token-lifetime'],
      },
    ],
    source: 'docs/facts/service.md#tokens, docs/facts/service.md#result-files, docs/facts/api.md',
    words: [
      'bearer token expired, lifetime is over, 401 after an hour',
      'токен истёк, просрочен, через час ошибка 401',
    ],
    see: ['bearer-token', 'api/token-lifetime'],
  },
]
