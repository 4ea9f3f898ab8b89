/**
 * Variables with options of the JVM, the strongest first, because the last of several options counts. Start scripts
 * write the first on the command line, `java` puts the second before that, and the JVM reads the third before both.
 */
export const jvmOptions = ['JAVA_OPTS', 'JDK_JAVA_OPTIONS', 'JAVA_TOOL_OPTIONS'] as const

/**
 * Returns the value of a system property (`-Dname=value`) in the service's settings; undefined if none of them sets it.
 * `valueOf`: returns the value of a setting.
 */
export function systemProperty(name: string, valueOf: (name: string) => string | undefined): string | undefined {
  for (const setting of jvmOptions) {
    const words = (valueOf(setting) ?? '').split(/[\s"']+/)
    const value = words.findLast((word) => word.startsWith(`-D${name}=`))?.slice(name.length + 3)
    if (value !== undefined && value !== '') return value
  }
  return undefined
}
