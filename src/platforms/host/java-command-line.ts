/** A command line of Java in its parts (java(1)). */
export interface JavaCommandLine {
  /** jar, module or main class; of an application that Spring Boot's launcher starts, where that lies */
  program: string
  options: readonly string[]
  parameters: readonly string[]
}

/** an option that takes the next word as its value */
const withValue =
  /^(?:-cp|-classpath|--class-path|-p|--module-path|--upgrade-module-path|--add-modules|--limit-modules|--add-(?:reads|exports|opens)|--patch-module|--enable-native-access)$/
const ofClassPath = /^(?:-cp|-classpath|--class-path)$/
const isNamed = /^(?:-jar|-m|--module)$/
/** it says nothing of what it starts, which lies on the class path */
const isLauncher = /^org\.springframework\.boot\.loader\.(?:launch\.)?(?:Jar|War|Properties)Launcher$/

/**
 * `java OPTION… -jar FILE PARAMETER…`, `java OPTION… CLASS PARAMETER…`, where `@FILE` among the options stands for the
 * words in that file. `read`: its text, null if it cannot be had; its name is then all that is known of the program.
 */
export async function javaCommandLine(
  words: readonly string[],
  read: (file: string) => Promise<string | null>,
): Promise<JavaCommandLine> {
  const left = words.slice(1)
  const options: string[] = []
  let unread = ''
  while (left.length > 0 && /^[-@]/.test(left[0]!) && !isNamed.test(left[0]!)) {
    const option = left.shift()!
    if (option.startsWith('@')) {
      const text = await read(option.slice(1))
      // such a file names no other one
      if (text === null) unread = option
      else left.unshift(...wordsOfFile(text).map((word) => word.replace(/^@/, './@')))
    } else options.push(option, ...(withValue.test(option) ? left.splice(0, 1) : []))
  }
  if (isNamed.test(left[0] ?? '')) left.shift()
  const program = left.shift() ?? unread
  const at = options.findLastIndex((it) => ofClassPath.test(it))
  return { program: isLauncher.test(program) ? (options[at + 1] ?? program) : program, options, parameters: left }
}

/** Words stand between blanks, or in quotes; a `#` begins a comment. */
function wordsOfFile(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .flatMap((line) => line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [])
    .map((word) => word.replaceAll(/["']/g, ''))
}
