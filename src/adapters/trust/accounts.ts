/** The accounts of this machine, as /etc/passwd and /etc/group have them. */
export interface Accounts {
  /** Null if it is not listed there */
  userName: (uid: number) => string | null
  groupName: (gid: number) => string | null
  /**
   * True if the group is the user's own: its main one, of the same name, and with no other member (Debian's adduser,
   * login.defs USERGROUPS_ENAB)
   */
  isPrivateGroup: (gid: number, uid: number) => boolean
}

/** Reads both files' texts. Accounts that only a directory service has count as unknown. */
export function accountsIn(passwd: string, group: string): Accounts {
  const users = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name, , uid, gid]) => (name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []))
  const groups = group
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name, , gid, members = '']) =>
      name && gid ? [{ name, gid: Number(gid), members: members.split(',').filter(Boolean) }] : [],
    )
  return {
    userName: (uid) => users.find((it) => it.uid === uid)?.name ?? null,
    groupName: (gid) => groups.find((it) => it.gid === gid)?.name ?? null,
    isPrivateGroup(gid, uid) {
      const user = users.find((it) => it.uid === uid)
      const all = groups.filter((it) => it.gid === gid)
      if (user?.gid !== gid || all.length === 0) return false
      const isAlone = all.every(
        ({ name, members }) => name === user.name && members.every((member) => member === user.name),
      )
      return isAlone && users.every((it) => it.uid === uid || it.gid !== gid)
    },
  }
}
