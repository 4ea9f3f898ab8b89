import { withoutSecrets } from '../core/redaction/index.ts'

interface Stream {
  write: NodeJS.WritableStream['write']
}

/**
 * Removes secrets from everything that is written to a stream from now on. Meant for standard error, where every part
 * of the program reports progress in plain lines. Documents are cleaned before printing, which breaks their texts into
 * lines.
 */
export function guardStream(stream: Stream): void {
  const write = stream.write.bind(stream) as (...all: unknown[]) => boolean
  stream.write = (text: unknown, ...rest: unknown[]): boolean =>
    write(typeof text === 'string' ? withoutSecrets(text) : text, ...rest)
}
