import { expect, test } from 'vitest'
import { accountsIn, flawOf, isReadOnlyAt, ownCircle } from '../../../src/adapters/trust/circle.ts'
import type { Circle, Entry } from '../../../src/adapters/trust/circle.ts'
import { mendsOf, whyDistrusted } from '../../../src/adapters/trust/assert.ts'

const accounts = accountsIn(
  'root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n' +
    'twin:x:1002:1003::/:/bin/sh\nother:x:1003:1003::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n',
  'root:x:0:\nme:x:1000:\nbob:x:1001:me\ntwin:x:1003:\nops:x:2000:me,bob\nnogroup:x:65534:\n',
)

function circle(own: Partial<Circle> = {}): Circle {
  return {
    owners: new Set([1000, 0]),
    isPrivate: (gid) => [1000, 0].some((uid) => accounts.isPrivateGroup(gid, uid)),
    hasList: () => false,
    isReadOnly: () => false,
    ...own,
  }
}

function entry(own: Partial<Entry> = {}): Entry {
  return { path: '/srv/a/file', role: 'target', isFolder: false, uid: 1000, gid: 1000, mode: 0o100644, ...own }
}

const folder = (own: Partial<Entry>): Entry =>
  entry({ path: '/srv/a', role: 'folder', isFolder: true, mode: 0o40755, ...own })

test.each<[what: string, entry: Entry, circle: Circle, why: string | null]>([
  ['our file', entry(), circle(), null],
  ["root's file", entry({ uid: 0, gid: 0 }), circle(), null],
  ['read-only for all', entry({ mode: 0o100444 }), circle(), null],
  ["another user's", entry({ uid: 1001 }), circle(), 'owner'],
  ["another user's, though nobody may write it", entry({ uid: 1001, mode: 0o100400 }), circle(), 'owner'],
  ['open to all', entry({ mode: 0o100666 }), circle(), 'everybody'],
  ['open to others and not to the group', entry({ mode: 0o100602 }), circle(), 'everybody'],
  ['umask 002 with a group of our own', entry({ mode: 0o100664 }), circle(), null],
  ["root's own group", entry({ uid: 0, gid: 0, mode: 0o100664 }), circle(), null],
  [
    'the same with a list of access rights, of which the bits are the mask',
    entry({ mode: 0o100664 }),
    circle({ hasList: () => true }),
    'list',
  ],
  ['a list whose mask allows no writing', entry({ mode: 0o100644 }), circle({ hasList: () => true }), null],
  ['a group with others in it', entry({ gid: 2000, mode: 0o100664 }), circle(), 'group'],
  ["another user's group", entry({ gid: 1001, mode: 0o100664 }), circle(), 'group'],
  ['a group that nobody knows', entry({ gid: 4711, mode: 0o100664 }), circle(), 'group'],
  [
    'open to all on a read-only mount, as a ConfigMap in a pod',
    entry({ uid: 0, gid: 0, mode: 0o100777 }),
    circle({ isReadOnly: () => true }),
    null,
  ],
  [
    "another user's on a read-only mount: who wrote it before?",
    entry({ uid: 1001 }),
    circle({ isReadOnly: () => true }),
    'owner',
  ],
  [
    'under sudo, the file of the user who called it',
    entry({ uid: 1001 }),
    circle({ owners: new Set([0, 1001]) }),
    null,
  ],
  ['a link, whose mode means nothing', entry({ role: 'link', mode: 0o120777 }), circle(), null],
  ["another user's link", entry({ role: 'link', uid: 1001, mode: 0o120777 }), circle(), 'owner'],
  ['a folder of our own', folder({}), circle(), null],
  ["another user's folder", folder({ uid: 1001 }), circle(), 'owner'],
  [
    "another user's sticky folder: its owner may move what is in it",
    folder({ uid: 1001, mode: 0o41777 }),
    circle(),
    'owner',
  ],
  ['/tmp', folder({ uid: 0, gid: 0, mode: 0o41777 }), circle(), null],
  ['/tmp without its sticky bit', folder({ uid: 0, gid: 0, mode: 0o40777 }), circle(), 'everybody'],
  ['a folder of a group', folder({ gid: 2000, mode: 0o40775 }), circle(), 'group'],
  [
    'a sticky folder as the state folder: others may put runs into it',
    folder({ role: 'target', mode: 0o41777 }),
    circle(),
    'everybody',
  ],
])('%s', (_, judged, within, why) => {
  expect(flawOf(judged, within)?.why ?? null).toBe(why)
})

test.each<[gid: number, uid: number, isPrivate: boolean]>([
  [1000, 1000, true],
  [0, 0, true],
  // bob's group has another member
  [1001, 1001, false],
  // the main group of two
  [1003, 1002, false],
  // a member, and not the main group
  [2000, 1000, false],
  // of another name than the user
  [65534, 65534, false],
  [1000, 1001, false],
  [4711, 4711, false],
])('group %d is the own one of user %d: %s', (gid, uid, isPrivate) => {
  expect(accounts.isPrivateGroup(gid, uid)).toBe(isPrivate)
})

test.each<[uid: number, environment: Record<string, string>, owners: number[]]>([
  [1000, {}, [0, 1000]],
  [0, {}, [0]],
  [0, { SUDO_UID: '1000' }, [0, 1000]],
  // whoever is not root may set it to anything
  [1000, { SUDO_UID: '1001' }, [0, 1000]],
  [0, { SUDO_UID: '1000x' }, [0]],
  [0, { SUDO_UID: '' }, [0]],
])('user %d with %j trusts the users %j', (uid, environment, owners) => {
  expect([...ownCircle({ uid, environment })!.owners].sort()).toEqual(owners)
})

test('the user who called sudo does not count for code that is kept compiled', () => {
  expect([...ownCircle({ uid: 0, environment: { SUDO_UID: '1000' }, sudo: false })!.owners]).toEqual([0])
})

const mountinfo = [
  '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
  '30 20 8:2 /kubelet/pods/1/volumes/config /etc/testops ro,relatime - ext4 /dev/sdb rw',
  '31 20 8:2 /kubelet/pods/1/etc-hosts /etc/hosts rw,relatime - ext4 /dev/sdb rw',
  '32 20 8:3 / /mnt/cd ro,relatime - iso9660 /dev/sr0 ro',
  '33 20 8:1 /home/bob /srv/view ro,relatime - ext4 /dev/sda1 rw',
  '34 20 0:40 / /srv/with\\040blank rw,relatime - tmpfs none ro',
  '35 20 8:3 / /mnt/cd/over rw,relatime - tmpfs none rw',
  'nonsense',
].join('\n')

test.each([
  ['/etc/testops/..2026/testops-admin.yaml', true],
  ['/etc/testops', true],
  ['/etc/testops2/file', false],
  ['/etc', false],
  ['/', false],
  ['/etc/hosts', false],
  // the same folder is open to writing at /home/bob
  ['/srv/view/testops-admin.yaml', false],
  ['/srv/with blank/file', true],
  ['/mnt/cd/over/file', false],
])('%s is read-only: %s', (path, isReadOnly) => {
  expect(isReadOnlyAt(path, mountinfo)).toBe(isReadOnly)
})

test('without a table of mounts nothing is read-only', () => {
  expect(isReadOnlyAt('/etc/testops', '')).toBe(false)
})

test.each<[what: string, entries: Entry[], why: string, mends: string[]]>([
  ["another user's file", [entry({ uid: 1001 })], 'user `bob` owns it', ['sudo chown -h 1000 /srv/a/file']],
  ['a user without a name', [entry({ uid: 4711 })], 'user 4711 owns it', ['sudo chown -h 1000 /srv/a/file']],
  ['open to all', [entry({ mode: 0o100666 })], 'every user can write to it (mode 0666)', ['chmod go-w /srv/a/file']],
  [
    'of a group',
    [entry({ mode: 0o100664, gid: 2000 })],
    'group `ops` can write to it (mode 0664)',
    ['chmod go-w /srv/a/file'],
  ],
  [
    'file and folder',
    [folder({ mode: 0o40777 }), entry({ mode: 0o100666 })],
    'every user can write to it (mode 0666); every user can write to its folder /srv/a (mode 0777)',
    ['chmod go-w /srv/a /srv/a/file'],
  ],
  [
    "root's folder for all",
    [folder({ uid: 0, gid: 0, mode: 0o40777 })],
    'every user can write to its folder /srv/a (mode 0777)',
    ['sudo chmod +t /srv/a'],
  ],
  // bob could put another file there at once
  [
    "another user's folder",
    [folder({ uid: 1001 }), entry({ uid: 1001 })],
    'user `bob` owns it; user `bob` owns its folder /srv/a',
    [],
  ],
  [
    'a name for a shell',
    [entry({ path: "/srv/$(id)/it's", mode: 0o100666 })],
    'every user can write to it (mode 0666)',
    [`chmod go-w '/srv/$(id)/it'\\''s'`],
  ],
])('%s: why, and what to type', (_, entries, why, mends) => {
  const flaws = entries.map((it) => flawOf(it, circle())).filter((it) => it !== null)
  expect({ why: whyDistrusted(flaws, accounts), mends: mendsOf(flaws, 1000) }).toEqual({ why, mends })
})
