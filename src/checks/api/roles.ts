import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { migratesTrees, parseBuild, treeMigration } from '../../knowledge/builds.ts'
import { isAdministrator, roles, rolesOf } from '../../knowledge/roles.ts'
import { byHand, enterSecret } from '../support/by-hand.ts'
import { curlAsUser } from '../support/evidence.ts'
import { firstLine } from '../support/format.ts'
import { had, tolerant } from '../support/wanted.ts'

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
        reason: `what ${api.target}/api/uaa/me answers shows no global role in a form that is known; the migration of trees takes ${needed}`,
      }
    const name = nameOf(user)
    const shown = `${name ?? 'the user'} has ${found.join(', ')}`
    if (isAdministrator(found)) return { status: 'ok', detail: `${shown}: every tree of every project` }
    const image = had(service) && (await tolerant(had(service)!.image()))
    const declared = image?.build ?? image?.tag ?? null
    const build = declared === null ? null : parseBuild(declared)
    const only = `${shown}, which is not the global role \`${roles.administrator}\``
    if (!build || !migratesTrees(build)) {
      const versions = `versions ${treeMigration.first} to ${treeMigration.last} do`
      return {
        status: 'skipped',
        reason: `${only}; ${build ? `build ${build.label} moves no trees: ${versions}` : `whether trees are to be migrated is not known: ${versions}`}`,
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
        text: `Have the API token made by a user who has ${needed}, and put it where the configuration's \`apiToken\` points to; or migrate only the trees of projects that this user owns.`,
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
