import type { Tree } from '../data/projects.ts'

/** The one field that a tree groups by, named like the tree. */
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

/** A tree in the form of `/api/tree` (report-service-extract.json: TreeDto). */
export function treeDto(tree: Tree): object {
  const { id: _, name: __, projectId: ___, ...traces } = tree
  return { ...tree, fields: [{ ...groupsBy(tree), ...traces }] }
}

/** A tree in the form of `/api/v2/tree` (TreeDtoV2). */
export function treeDtoV2(tree: Tree): object {
  const { id, name, projectId } = tree
  return {
    id,
    name,
    projectId,
    customFieldsProject: [{ id, locked: false, required: false, customField: groupsBy(tree) }],
  }
}
