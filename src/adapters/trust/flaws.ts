/** The facts about an entry of a file system that show who may change it. `judge.ts` asks the file system for them. */
export interface Entry {
  path: string
  /** `target`: the file or folder that is to be trusted; `folder`: one above it; `link`: a symbolic link on the way */
  role: 'target' | 'folder' | 'link'
  isFolder: boolean
  uid: number
  gid: number
  /** with the sticky bit */
  mode: number
}

/** Why an entry is not trusted: a flaw. */
export type Flaw = Pick<Entry, 'path' | 'role' | 'isFolder'> &
  (
    | { why: 'owner'; uid: number }
    | { why: 'everybody' | 'group' | 'list'; uid: number; gid: number; mode: number }
    | { why: 'replaced' }
  )

/** The users whom this user trusts. */
export interface Circle {
  /** this user, root, and under sudo the user who called it */
  owners: ReadonlySet<number>
  /** True if one of the owners is the only member of the group */
  isPrivate: (gid: number) => boolean
  /**
   * True if an access list stands beside the mode. Asked only if the group may write, since the group's bits are the
   * list's mask then
   */
  hasList: (path: string) => boolean
  /** True if nobody may write there, whatever the mode says */
  isReadOnly: (path: string) => boolean
}

const sticky = 0o1000

/**
 * Returns why others could have written a file or folder, or could replace what is in it; null if only the circle
 * could. In a sticky folder, such as /tmp, nobody moves another user's entry: there each entry is judged by its owner.
 */
export function flawOf(entry: Entry, { owners, isPrivate, hasList, isReadOnly }: Circle): Flaw | null {
  const { path, role, isFolder, uid, gid, mode } = entry
  const at = { path, role, isFolder }
  if (!owners.has(uid)) return { ...at, why: 'owner', uid }
  // the mode of a link means nothing
  if (role === 'link' || (role === 'folder' && (mode & sticky) !== 0)) return null
  const why = whoWrites()
  return why === null || isReadOnly(path) ? null : { ...at, why, uid, gid, mode: mode & 0o7777 }

  function whoWrites(): 'everybody' | 'group' | 'list' | null {
    if ((mode & 0o002) !== 0) return 'everybody'
    if ((mode & 0o020) === 0) return null
    if (!isPrivate(gid)) return 'group'
    return hasList(path) ? 'list' : null
  }
}
