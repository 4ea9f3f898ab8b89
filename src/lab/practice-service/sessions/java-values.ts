const stream = 'aced0005'
const numberClass = '787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870'
const longHead = Buffer.from(
  `${stream}7372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df0200014a000576616c7565${numberClass}`,
  'hex',
)
const integerHead = Buffer.from(
  `${stream}737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565${numberClass}`,
  'hex',
)
const stringHead = Buffer.from(`${stream}74`, 'hex')

/** A java.lang.Long in JDK serialisation: 82 bytes (FIELD-NOTES.md 4). */
export function javaLong(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(Math.trunc(value)))
  return Buffer.concat([longHead, bytes])
}

/** A java.lang.Integer: 81 bytes. */
export function javaInteger(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return Buffer.concat([integerHead, bytes])
}

/** A java.lang.String of up to 65,535 bytes. */
export function javaString(value: string): Buffer {
  const text = Buffer.from(value, 'utf8')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length)
  return Buffer.concat([stringHead, length, text])
}

/** Reads a java.lang.Long; null if the bytes are not one. */
export function readLong(bytes: Buffer | null | undefined): number | null {
  if (!bytes || bytes.length !== longHead.length + 8 || !bytes.subarray(0, longHead.length).equals(longHead))
    return null
  return Number(bytes.readBigInt64BE(longHead.length))
}

export function readInteger(bytes: Buffer | null | undefined): number | null {
  if (!bytes || bytes.length !== integerHead.length + 4 || !bytes.subarray(0, integerHead.length).equals(integerHead))
    return null
  return bytes.readInt32BE(integerHead.length)
}

export function readString(bytes: Buffer | null | undefined): string | null {
  if (!bytes || bytes.length < stringHead.length + 2 || !bytes.subarray(0, stringHead.length).equals(stringHead))
    return null
  return bytes.subarray(stringHead.length + 2).toString('utf8')
}
