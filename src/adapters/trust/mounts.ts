interface Mount {
  device: string
  /** the part of its file system that is mounted */
  root: string
  at: string
  isReadOnly: boolean
}

/**
 * Whether nobody who sees these mounts can write at a path without symbolic links: its own mount is read-only, and no
 * writable one shows the same place. `mountinfo`: /proc/self/mountinfo (proc(5)). Volumes of a pod that hold a
 * ConfigMap or a Secret are such mounts.
 */
export function isReadOnlyAt(path: string, mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').flatMap(mountIn)
  const around = mounts.filter(({ at }) => isWithin(path, at))
  // of two at one place, the later one hides the other
  const own = around.reduce<Mount | null>(
    (best, mount) => (best === null || mount.at.length >= best.at.length ? mount : best),
    null,
  )
  if (!own?.isReadOnly) return false
  const place = joined(own.root, path.slice(own.at === '/' ? 0 : own.at.length))
  return mounts.every((it) => it.isReadOnly || it.device !== own.device || !isWithin(place, it.root))
}

function mountIn(line: string): Mount[] {
  const words = line.split(' ')
  const dash = words.indexOf('-', 6)
  const [, , device, root, at, options] = words
  if (dash < 0 || device === undefined || root === undefined || at === undefined || options === undefined) return []
  const isReadOnly = [options, words[dash + 3] ?? ''].some((it) => it.split(',').includes('ro'))
  return [{ device, root: plain(root), at: plain(at), isReadOnly }]
}

function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

function joined(root: string, rest: string): string {
  return `${root === '/' ? '' : root}${rest}` || '/'
}

/** Blanks, tabs, newlines and backslashes are written as three octal digits. */
function plain(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
