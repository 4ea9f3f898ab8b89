import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { migratesTrees, parseBuild, treeMigration } from '../../knowledge/builds.ts'
import { isAdministrator, roles, rolesOf } from '../../knowledge/api.ts'
import { byHand, enterSecret } from '../../domain/by-hand.ts'
import { curlAsUser } from '../../domain/evidence.ts'
import { firstLine } from '../../core/format.ts'
import { had, tolerant } from '../../domain/wanted.ts'

const needed = `the global role \`${roles.administrator}\`, or the role \`${roles.projectOwner}\` in each project`

export const apiRoles = defineCheck({
  id: 'api/roles',
  title: "API token's user may migrate trees",
  reads: ['api'],
  wants: ['service'],
  async run({ api, service }, deployment): Promise<Outcome> {
    const user = await api.currentUser()
    const found = rolesOf(user)
    if (found === null)
      return {
        status: 'skipped',
        reason:
          `no global role found in the response from ${api.target}/api/uaa/me; to migrate trees, a user needs ` +
          `${needed}`,
      }
    const name = nameOf(user)
    const who = name ?? 'this user'
    const shown = `${name ?? 'the user'} has ${found.join(', ')}`
    if (isAdministrator(found)) return { status: 'ok', detail: `${shown} and may migrate all trees` }
    const image = had(service) && (await tolerant(had(service)!.image()))
    const declared = image?.build ?? image?.tag ?? null
    const build = declared === null ? null : parseBuild(declared)
    const only = `${shown}, but not the global role \`${roles.administrator}\``
    if (!build || !migratesTrees(build)) {
      const versions = `versions ${treeMigration.first} to ${treeMigration.last}`
      const why = build
        ? `build ${build.label} does not migrate trees: only ${versions} do`
        : `the build is unknown, so it is unknown whether it migrates trees: only ${versions} do`
      return { status: 'skipped', reason: `${only}; ${why}` }
    }
    return {
      status: 'problem',
      severity: 'warning',
      findings: [
        {
          message: `${only}: with build ${build.label}, ${who} can migrate trees only in projects that ${who} owns`,
          evidence: [curlAsUser(api.target, '/api/uaa/me'), found.join(' ')],
        },
      ],
      remedy: {
        text:
          `Create an API token as a user with ${needed}. Store the token in the place that \`apiToken\` in the ` +
          'configuration points to. Alternatively, migrate only the trees of projects that this user owns.',
        commands: [
          enterSecret('apiToken', deployment),
          byHand('api/roles'),
          'testops-admin doctor -d {deployment} --only api/roles',
        ],
      },
    }
  },
})

function nameOf({ username }: Readonly<Record<string, unknown>>): string | null {
  return typeof username === 'string' && username.trim() !== '' ? firstLine(username.trim(), 60) : null
}
