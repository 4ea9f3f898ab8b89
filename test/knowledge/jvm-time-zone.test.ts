import { expect, test } from 'vitest'
import { namedTimeZone } from '../../src/knowledge/jvm.ts'

const tokyo = '-Duser.timezone=Asia/Tokyo'
const york = '-Duser.timezone=America/New_York'

test.each<
  [what: string, settings: Readonly<Record<string, string>>, named: readonly [setting: string, zone: string] | null]
>([
  ['nothing', {}, null],
  ['TZ', { TZ: 'Asia/Tokyo' }, ['TZ', 'Asia/Tokyo']],
  ['TZ with a colon', { TZ: ':Asia/Tokyo' }, ['TZ', 'Asia/Tokyo']],
  ['an empty TZ', { TZ: '' }, null],
  [
    'an option that all of Java reads, above TZ',
    { TZ: 'UTC', JAVA_TOOL_OPTIONS: `-Xmx1g ${york} -Dx=y` },
    ['JAVA_TOOL_OPTIONS', 'America/New_York'],
  ],
  [
    'what java puts on its command line, above that',
    { JDK_JAVA_OPTIONS: york, JAVA_TOOL_OPTIONS: tokyo },
    ['JDK_JAVA_OPTIONS', 'America/New_York'],
  ],
  [
    'what a start script writes there, above both',
    { JAVA_OPTS: `${york}\n-Xmx1g`, JDK_JAVA_OPTIONS: tokyo, JAVA_TOOL_OPTIONS: tokyo },
    ['JAVA_OPTS', 'America/New_York'],
  ],
  ['of two options the last', { JAVA_OPTS: `${tokyo} ${york}` }, ['JAVA_OPTS', 'America/New_York']],
  ['a quoted option', { JAVA_OPTS: `"${york}"`, TZ: 'UTC' }, ['JAVA_OPTS', 'America/New_York']],
  ['a quoted value', { JAVA_OPTS: "-Duser.timezone='America/New_York'" }, ['JAVA_OPTS', 'America/New_York']],
  [
    'options of other things',
    { JAVA_OPTS: `-Xmx1g -Dold${york} -Duser.timezones=UTC -Duser.timezone=`, TZ: 'UTC' },
    ['TZ', 'UTC'],
  ],
])('%s', (_, settings, named) => {
  const found = namedTimeZone((name) => settings[name])
  expect(found && [found.setting, found.zone]).toEqual(named)
})

test('of options nothing else is shown', () => {
  expect(namedTimeZone((name) => (name === 'JAVA_OPTS' ? `-Dpassword=x ${york}` : undefined))?.shown).toBe(york)
})
