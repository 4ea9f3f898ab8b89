import { CommandHelp, Flags, Help } from '@oclif/core'
import { AdminError } from '../core/error.ts'
import { partText } from '../core/package-parts.ts'
import { command } from '../core/shell-command.ts'
import { inEnglish, textsIn, translation } from '../core/translation.ts'
import type { Translation } from '../core/translation.ts'
import { beforeDashes, tellLine } from './write.ts'

/** Languages of what an operator reads. A further one has its texts under explain/: docs/dev/how-to/translate.md. */
const languages = ['en', 'ru'] as const
type Language = (typeof languages)[number]

/** The flag of commands that speak them. */
export const langFlag = Flags.option({
  options: languages,
  summary: 'Choose the language of the text; by default that of the locale. JSON stays English',
})

/** Names of the languages in English */
const names: Readonly<Record<Language, string>> = { en: 'English', ru: 'Russian' }

/**
 * Returns the language to speak: the one that was asked for, else that of the locale for messages (LC_ALL, LC_MESSAGES,
 * LANG), if its characters can be shown.
 */
export function languageOf(asked: Language | undefined, environment: NodeJS.ProcessEnv): Language {
  if (asked !== undefined) return asked
  const { LC_ALL, LC_MESSAGES, LC_CTYPE, LANG } = environment
  const [, locale = ''] = /^([a-z]{2})(?![a-z])/i.exec(LC_ALL || LC_MESSAGES || LANG || '') ?? []
  const found = languages.find((it) => it === locale.toLowerCase()) ?? 'en'
  return showsAll(LC_ALL || LC_CTYPE || LANG || '') ? found : 'en'
}

/** True if a terminal with this locale shows UTF-8. A locale that names no characters, such as `ru_RU`, counts. */
function showsAll(locale: string): boolean {
  const [, characters] = /\.([^@]*)/.exec(locale) ?? []
  return characters === undefined ? !/^(?:C|POSIX)$/.test(locale) : /^utf-?8$/i.test(characters)
}

/** Loads what translates; null for English. If its file is missing or damaged, says so, and the text is English too. */
export async function spoken(asked: Language | undefined): Promise<Translation | null> {
  const language = languageOf(asked, process.env)
  if (language === 'en') return null
  try {
    const texts = textsIn(JSON.parse(partText(`dist/texts.${language}.json`)))
    if (texts !== null) return translation(texts)
  } catch {
    // told below
  }
  tellLine(
    process.stderr,
    `The ${names[language]} texts of testops-admin are missing or damaged, so this is in English. Install it again.`,
  )
  return null
}

/**
 * Takes `--lang` from words of which oclif parses none: those for help. Throws USAGE for an unknown language.
 */
export function withoutLang(words: readonly string[]): { rest: string[]; asked: Language | undefined } {
  const rest = [...words]
  const flags = beforeDashes(words)
  const at = flags.findIndex((word) => word === '--lang' || word.startsWith('--lang='))
  if (at < 0) return { rest, asked: undefined }
  const joined = flags[at]!.slice('--lang='.length)
  const isJoined = flags[at] !== '--lang'
  rest.splice(at, isJoined ? 1 : 2)
  const value = isJoined ? joined : flags[at + 1]
  const asked = languages.find((it) => it === value)
  if (asked === undefined)
    throw new AdminError(
      'USAGE',
      `Expected --lang=${value ?? ''} to be one of: ${languages.join(', ')}`,
      languages.map((it) => command`testops-admin --help --lang ${it}`),
    )
  return { rest, asked }
}

const headers = /^((?:\W\[\d+m)*)(VERSION|USAGE|TOPICS|COMMANDS)(?!\w)/gm

/** The help of one command, whose usage has no trace of flags that oclif has put elsewhere in the line. */
class OwnCommandHelp extends CommandHelp {
  protected override defaultUsage(): string {
    return tidyUsage(super.defaultUsage())
  }
}

/** Removes the bars and spaces that oclif leaves where a flag stands in several groups: `[--output FILE |  | ]`. */
export function tidyUsage(usage: string): string {
  const words = usage.split(' ').filter((word) => word !== '')
  const isLeft = (word: string, at: number): boolean => word === '|' && ['|', ']'].includes(words[at + 1] ?? '')
  return words
    .filter((word, at) => !isLeft(word, at))
    .join(' ')
    .replaceAll(' ]', ']')
}

/** The help of this program. */
export class OwnHelp extends Help {
  protected override CommandHelpClass = OwnCommandHelp
}

/** Help with the pages that list commands in another language. The page of a command stays English. */
export function helpIn({ help: say }: Translation): typeof Help {
  return class extends OwnHelp {
    #say = inEnglish
    override async showRootHelp(): Promise<void> {
      this.#translate()
      await super.showRootHelp()
    }
    override async showTopicHelp(topic: Parameters<Help['showTopicHelp']>[0]): Promise<void> {
      this.#translate()
      await super.showTopicHelp(topic)
    }
    #translate(): void {
      const { commands, topics, pjson } = this.config
      for (const it of commands) if (it.summary !== undefined) it.summary = say(it.summary)
      for (const it of topics) if (it.description !== undefined) it.description = say(it.description)
      pjson.oclif.description = say(String(pjson.oclif.description ?? pjson.description))
      this.#say = say
    }
    protected override log(...lines: string[]): void {
      const told = (text: string): string =>
        text.replace(headers, (_, ink: string, header: string) => ink + this.#say(header))
      super.log(...lines.map(told))
    }
  }
}
