import type { ExplainText } from '../entry.ts'

/** Ids are those of the fault matrix. */
export const sessionsFaults: readonly ExplainText[] = [
  {
    id: 'stale-sessions',
    kind: 'fault',
    of: 'sessions/clock',
    title: 'sign-in fails because of stale sessions',
    meaning:
      'The web interface answers a sign-in with 401, and says that the CSRF token could not be found. The ' +
      'session store holds sessions that are expired or not yet active.',
    signatures: ['csrf'],
    messages: [/status code 401\b/],
    words: [
      'cannot sign in: session is stale or expired, login answers 401, cannot log in 401, nobody can log in after the clock was changed',
      'users cannot log in after a time change',
      'ошибка csrf при входе, пользователи не могут войти',
      'web sign-in fails because of a stale session in the session store',
      'mixed time zones of server, user computer and VPN can create an expired or not-yet-active session',
      'cannot sign in, CSRF token',
      'не удаётся войти, не могу войти, ошибка 401 csrf, устаревшая сессия',
    ],
  },
  {
    id: 'sessions-down',
    kind: 'fault',
    of: 'sessions/reachable',
    title: 'the session store does not answer',
    meaning: 'Web users are signed out, and cannot sign in.',
    messages: ['noauth authentication required', 'wrongpass invalid username-password pair'],
    words: [
      'redis connection refused',
      'redis is down, session store unreachable',
      'redis недоступен, хранилище сессий не отвечает',
    ],
  },
  {
    id: 'store-full',
    kind: 'fault',
    of: 'sessions/memory',
    title: 'the session store has no memory left',
    meaning: 'The session store refuses new sessions, or drops old ones.',
    messages: [/oom command not allowed when used memory > '?maxmemory/],
    words: ['redis maxmemory is reached, redis out of memory', 'в redis закончилась память'],
  },
  {
    id: 'clock-skew',
    kind: 'fault',
    of: 'service/clocks',
    title: 'the clock of one part is wrong',
    meaning: 'Sessions and tokens expire as soon as they are made, or are not valid yet.',
    words: ['clock skew, wrong time on a server', 'время на сервере неверное, часы расходятся'],
  },
]
