/** The `source` of an attachment in raw text, up to 4,096 characters long. */
const inText = /"source"\s{0,100}:\s{0,100}"((?:[^"\\]|\\.){0,4096})"/g

/** Finds the sources of attachments in a text that cannot be read as a result. */
export function rawSources(text: string): string[] {
  return Array.from(text.matchAll(inText), ([, written]) => {
    try {
      return JSON.parse(`"${written!}"`) as string
    } catch {
      return written!
    }
  })
}
