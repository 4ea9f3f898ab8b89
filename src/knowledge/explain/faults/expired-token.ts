import type { ExplainText } from '../entry.ts'

export const tokenFaults: readonly ExplainText[] = [
  {
    id: 'token-expired',
    kind: 'fault',
    title: 'a Bearer token has expired',
    severities: ['warning'],
    meaning:
      'The service answers 401 to calls with an expired Bearer token. A token lives for ' +
      'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS (one hour unless set). After that, the caller must exchange ' +
      'the API token for a new one. This program does so silently, shortly before the end and after a 401: ' +
      'work of any length goes on, and nothing is reported. A program that does not do so fails after its first hour.',
    causes: [
      'The work took longer than the lifetime of a token: that is normal.',
      'The service was restarted with another JWT secret: it refuses every token from before.',
      'The clocks of the service and of the machine that issued the token disagree, so a token expires too early.',
    ],
    verify: [
      'printf %s "$ACCESS_TOKEN" | cut -d. -f2 | base64 -d 2> /dev/null; date +%s   # exp: when it ends, in seconds as date shows them',
    ],
    remedies: [
      {
        text: 'This program needs nothing. Check that the API token is still exchanged.',
        commands: ['testops-admin doctor --only api/token'],
      },
      {
        text: 'Other programs should exchange the API token again shortly before the Bearer token expires, and once after a 401.',
        commands: [],
      },
      {
        text: 'If tokens expire as soon as they are issued, check the clocks and the lifetime that is set.',
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
