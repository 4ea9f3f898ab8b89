import { withoutSecrets } from '../core/redaction/index.ts'

interface Stream {
  write: NodeJS.WritableStream['write']
}

/**
 * Takes secrets out of all that is written to a stream from now on: for standard error, on which every part of the
 * program says what it is doing, in plain lines. Documents are cleaned before they are printed, since their texts are
 * broken into lines there.
 */
export function guardStream(stream: Stream): void {
  const write = stream.write.bind(stream) as (...all: unknown[]) => boolean
  stream.write = (text: unknown, ...rest: unknown[]): boolean =>
    write(typeof text === 'string' ? withoutSecrets(text) : text, ...rest)
}
