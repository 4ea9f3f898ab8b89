import { harmlessLines } from '../core/harmless.ts'

/** A text for XML 1.0, in attributes and between tags; what must not stand there at all is shown as text. */
export function xmlText(text: string): string {
  return harmlessLines(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** An element with its content, which is XML already; without one it is closed at once. */
export function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: readonly string[] = [],
): string {
  const head = [
    name,
    ...Object.entries(attributes).map(([key, value]) => `${key}="${xmlText(String(value)).replaceAll('\n', '&#10;')}"`),
  ].join(' ')
  return content.length === 0 ? `<${head}/>` : `<${head}>${content.join('')}</${name}>`
}
