import { apiRoles } from '../../../src/checks/api/roles.ts'
import { AdminError } from '../../../src/core/error.ts'
import { fakeApi, fakeService, image, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

/** A service of that build, and what it answers about the user. */
const at = (build: string | null, user: Readonly<Record<string, unknown>>): Parts => ({
  service: fakeService({ image: image({ build, tag: null }) }),
  api: fakeApi({ currentUser: { id: 2, username: 'olga', ...user } }),
})
const tester = { authorities: [{ authority: 'ROLE_USER' }] }
const unclear =
  'no global role found in the response from https://testops.example.org/api/uaa/me; to migrate trees, a user ' +
  'needs the global role `Администратор`, or the role `Владелец проекта` in each project'

export const apiRolesTable: CheckTable = {
  check: apiRoles,
  cases: [
    {
      situation: 'an administrator',
      sources: at('524u02', { authorities: [{ authority: 'ROLE_USER' }, { authority: 'ROLE_ADMIN' }] }),
      status: 'ok',
      says: ['olga has ROLE_USER, ROLE_ADMIN and may migrate all trees'],
    },
    {
      situation: 'an administrator, whatever the build',
      sources: at(null, { authorities: ['ROLE_ADMIN'] }),
      status: 'ok',
    },
    {
      situation: 'an administrator as the web interface writes it',
      sources: at('524u02', { role: 'Администратор' }),
      status: 'ok',
    },
    {
      situation: 'another user, and the build moves trees',
      sources: at('524u02', tester),
      status: 'problem',
      severity: 'warning',
      says: [
        'olga has ROLE_USER, but not the global role `Администратор`: with build 524u02, olga can migrate trees ' +
          'only in projects that olga owns',
        /printf 'header = .*Bearer %s.*\$ACCESS_TOKEN.*\| curl -i -K - https:\/\/testops\.example\.org\/api\/uaa\/me/,
        'role `Владелец проекта`',
        'Alternatively, migrate only the trees of projects that this user owns',
      ],
    },
    {
      situation: 'a user without a name, and the build moves trees',
      sources: at('5.11', { ...tester, username: 7 }),
      status: 'problem',
      severity: 'warning',
      says: ['the user has ROLE_USER', 'projects that this user owns'],
    },
    {
      situation: 'another user, and the build moves no trees',
      sources: at('527u01', tester),
      status: 'skipped',
      says: [
        'olga has ROLE_USER, but not the global role',
        'build 527u01 does not migrate trees: only versions 5.11 to 5.24 do',
      ],
    },
    {
      situation: 'another user, and the build is not known',
      sources: at(null, tester),
      status: 'skipped',
      says: ['the build is unknown, so it is unknown whether it migrates trees: only versions 5.11 to 5.24 do'],
    },
    {
      situation: 'another user, and nothing is known of the service',
      sources: { ...at(null, tester), service: unreachable('service') },
      status: 'skipped',
    },
    {
      situation: 'no role is shown',
      sources: at('524u02', {}),
      status: 'skipped',
      says: ['https://testops.example.org/api/uaa/me', unclear],
    },
    {
      situation: 'roles of an unknown shape',
      sources: at('524u02', { roles: [{ id: 1, name: 'admins' }] }),
      status: 'skipped',
      says: [unclear],
    },
    { situation: 'a number for a role', sources: at('524u02', { authorities: 3 }), status: 'skipped', says: [unclear] },
    {
      situation: 'roles of which some are not understood',
      sources: at('524u02', { authorities: ['ROLE_USER', { group: 5 }] }),
      status: 'skipped',
      says: [unclear],
    },
    {
      situation: 'an empty list of roles',
      sources: at('524u02', { authorities: [] }),
      status: 'skipped',
      says: [unclear],
    },
    {
      situation: 'no token is configured',
      sources: { api: fakeApi({ currentUser: new AdminError('NOT_CONFIGURED', 'no `apiToken` is configured') }) },
      status: 'skipped',
      says: ['no `apiToken` is configured'],
    },
    {
      situation: 'the service does not say who the user is',
      sources: { api: fakeApi({ currentUser: new AdminError('UNEXPECTED_ANSWER', 'HTTP 500') }) },
      status: 'unknown',
      code: 'UNEXPECTED_ANSWER',
    },
    { situation: 'the API is down', sources: { api: unreachable('api') }, status: 'unknown', because: 'api/reachable' },
  ],
}
