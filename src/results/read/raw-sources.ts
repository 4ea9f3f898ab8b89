/** so long a source may be */
const inText = /"source"\s{0,100}:\s{0,100}"((?:[^"\\]|\\.){0,4096})"/g

/** What a text that cannot be read as a result names as attachments all the same. */
export function rawSources(text: string): string[] {
  return Array.from(text.matchAll(inText), ([, written]) => {
    try {
      return JSON.parse(`"${written!}"`) as string
    } catch {
      return written!
    }
  })
}
