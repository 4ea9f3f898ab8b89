import type { Metadata, Stored } from './resources.ts'
import { unsupported } from './status.ts'

/**
 * How the typed clients of Go send what they have types for (kubernetes.io, "Alternate representations of resources").
 */
export const protobufType = 'application/vnd.kubernetes.protobuf'

type Fields = ReadonlyMap<number, readonly Buffer[]>

/** The one kind that such a client writes here: helm keeps its releases in Secrets. Throws 415 for any other. */
export function secretIn(bytes: Buffer): Stored {
  const envelope = fieldsOf(bytes.subarray('k8s\0'.length))
  const kind = textIn(fieldsOf(envelope.get(1)?.[0] ?? Buffer.alloc(0)), 2)
  if (kind !== 'Secret') throw unsupported(protobufType)
  const secret = fieldsOf(envelope.get(2)![0]!)
  const type = textIn(secret, 3)
  const data = [...mapIn(secret, 2)].map(([key, value]): [string, string] => [key, value.toString('base64')])
  return { metadata: metadataIn(fieldsOf(secret.get(1)![0]!)), data: Object.fromEntries(data), ...(type && { type }) }
}

function metadataIn(fields: Fields): Metadata {
  const texts = (number: number): Record<string, string> =>
    Object.fromEntries([...mapIn(fields, number)].map(([key, value]) => [key, value.toString()]))
  const [namespace, resourceVersion] = [textIn(fields, 3), textIn(fields, 6)]
  return {
    name: textIn(fields, 1),
    ...(namespace && { namespace }),
    ...(resourceVersion && { resourceVersion }),
    labels: texts(11),
    annotations: texts(12),
  }
}

function textIn(fields: Fields, number: number): string {
  return fields.get(number)?.[0]?.toString() ?? ''
}

function mapIn(fields: Fields, number: number): Map<string, Buffer> {
  const entries = (fields.get(number) ?? []).map((it) => fieldsOf(it))
  return new Map(entries.map((it) => [textIn(it, 1), it.get(2)?.[0] ?? Buffer.alloc(0)]))
}

/** Those with a length; numbers are of no use here (protobuf.dev, "Encoding"). */
function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, Buffer[]>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    if ((tag & 7) === 0) varint()
    else {
      const length = varint()
      const number = tag >>> 3
      fields.set(number, [...(fields.get(number) ?? []), bytes.subarray(at, at + length)])
      at += length
    }
  }
  return fields
}
