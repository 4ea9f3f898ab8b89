import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { migratesTrees, parseBuild, treeMigration } from '../../knowledge/builds.ts'
import { isAdministrator, roles, rolesOf } from '../../knowledge/roles.ts'
import { byHand, enterSecret } from '../../domain/by-hand.ts'
import { curlAsUser } from '../../domain/evidence.ts'
import { firstLine } from '../../core/format.ts'
import { had, tolerant } from '../../domain/wanted.ts'

const needed = `the global role \`${roles.administrator}\`, or in each project the role \`${roles.projectOwner}\``

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
        reason: `cannot find a global role in the answer of ${api.target}/api/uaa/me; the migration of trees needs ${needed}`,
      }
    const name = nameOf(user)
    const shown = `${name ?? 'the user'} has ${found.join(', ')}`
    if (isAdministrator(found)) return { status: 'ok', detail: `${shown}: every tree of every project` }
    const image = had(service) && (await tolerant(had(service)!.image()))
    const declared = image?.build ?? image?.tag ?? null
    const build = declared === null ? null : parseBuild(declared)
    const only = `${shown}, but not the global role \`${roles.administrator}\``
    if (!build || !migratesTrees(build)) {
      const versions = `versions ${treeMigration.first} to ${treeMigration.last}`
      return {
        status: 'skipped',
        reason: `${only}; ${build ? `build ${build.label} moves no trees: ${versions} do` : `the build is unknown: ${versions} move their trees`}`,
      }
    }
    return {
      status: 'problem',
      severity: 'warning',
      findings: [
        {
          message: `${only}: trees can be migrated only in projects that ${name ?? 'this user'} owns, and build ${build.label} moves trees`,
          evidence: [curlAsUser(api.target, '/api/uaa/me'), found.join(' ')],
        },
      ],
      remedy: {
        text: `Create the API token as a user who has ${needed}, and put it where \`apiToken\` in the configuration points. Or migrate only the trees of projects that this user owns.`,
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
