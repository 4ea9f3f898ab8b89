import type { Tree } from '../data/projects.ts'

/** What a tree groups by: one field, of the tree's own name. */
const groupsBy = ({
  id,
  name,
}: Tree): {
  id: number
  name: string
  archived: boolean
  locked: boolean
  required: boolean
  singleSelect: boolean
} => ({
  id,
  name,
  archived: false,
  locked: false,
  required: false,
  singleSelect: true,
})

/** As `/api/tree` shows it (report-service-extract.json: TreeDto). */
export function treeDto(tree: Tree): object {
  const { id: _, name: __, projectId: ___, ...traces } = tree
  return { ...tree, fields: [{ ...groupsBy(tree), ...traces }] }
}

/** As `/api/v2/tree` shows it (TreeDtoV2). */
export function treeDtoV2(tree: Tree): object {
  const { id, name, projectId } = tree
  return {
    id,
    name,
    projectId,
    customFieldsProject: [{ id, locked: false, required: false, customField: groupsBy(tree) }],
  }
}
