import { counted, grouped } from '../../core/format.ts'
import type { ActionOf } from '../../core/action.ts'
import type { ApiControl } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import type { FailedItem } from '../../core/repair.ts'
import type { ActionHandler, Shortfall, Workshop } from '../handler.ts'
import { accountOf, answersIn, leftOf } from './answers.ts'
import { Migration } from './migration.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'

type Migrate = ActionOf<'migrate-trees'>

export const migrateTrees: ActionHandler<'migrate-trees'> = {
  failpoints: ['announced', 'asking', 'answered', 'noted'],
  async isDone({ items }, { journal }) {
    return leftOf(items, answersIn(journal.notes, items.length)).left.length === 0
  },
  async perform(action, workshop) {
    await new Migration(action, await controlOf(action, workshop), workshop).run()
  },
  async foresee(action, workshop) {
    await controlOf(action, workshop)
  },
  // trees keep the new structure
  undo: null,
  account: ({ items }, notes) => accountOf(items, notes),
  shortfall({ items }, notes) {
    const { failed, requested } = accountOf(items, notes)
    return failed.length === 0
      ? null
      : { message: `${grouped(failed.length)} of ${counted(requested, 'call')} failed`, ...again(failed) }
  },
}

/** The control of the API. Throws REFUSED if the configuration now names another service. */
async function controlOf({ api }: Migrate, { control }: Workshop): Promise<ApiControl> {
  const found = await control.api()
  if (found.target === api) return found
  throw new AdminError('REFUSED', `the plan was made for ${api}, but the deployment's address is now ${found.target}`)
}

/** The most items that a suggested command names */
const mostNamed = 10
/** The most failures that are listed with reasons: a longer file would exceed the limit of --from-file */
const mostExplained = 10_000

function again(failed: readonly FailedItem[]): Pick<Shortfall, 'suggestions' | 'file'> {
  const again = 'testops-admin migrate-trees -d {deployment}'
  if (failed.length <= mostNamed) {
    const words = failed.map(({ project, tree }) =>
      tree === undefined ? ['--project', String(project)] : ['--tree', `${project}/${tree}`],
    )
    return {
      suggestions: [
        command`${nested(again)} ${nested(typed(words.flat()))}   # run this once the cause of the failures is gone`,
      ],
    }
  }
  const isExplained = failed.length <= mostExplained
  const lines = failed.map(
    ({ project, tree, message }) =>
      `${project}${tree === undefined ? '' : `/${tree}`}${isExplained ? `   # ${message.slice(0, 200)}` : ''}\n`,
  )
  return {
    suggestions: [],
    file: {
      name: 'failed.txt',
      text: lines.join(''),
      command: command`${nested(again)} --from-file {file}   # repeats all failed
        calls${nested(isExplained ? ' (the file gives the reasons)' : '')}; run this once the cause of the failures is
        gone`,
    },
  }
}
