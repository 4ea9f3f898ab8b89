/** A java.lang.Long as JDK serialisation writes it: 82 bytes. */
export function javaLong(value: number): Buffer {
  const tail = Buffer.alloc(8)
  tail.writeBigInt64BE(BigInt(value))
  return Buffer.concat([head('java.lang.Long', '3b8be490cc8f23df', 'J'), tail])
}

/** A java.lang.Integer as JDK serialisation writes it: 81 bytes. */
export function javaInteger(value: number): Buffer {
  const tail = Buffer.alloc(4)
  tail.writeInt32BE(value)
  return Buffer.concat([head('java.lang.Integer', '12e2a0a4f7818738', 'I'), tail])
}

function head(name: string, serialVersion: string, type: string): Buffer {
  return Buffer.concat([
    Buffer.from('aced00057372', 'hex'),
    text(name),
    Buffer.from(`${serialVersion}020001`, 'hex'),
    Buffer.from(type),
    text('value'),
    Buffer.from('7872', 'hex'),
    text('java.lang.Number'),
    Buffer.from('86ac951d0b94e08b0200007870', 'hex'),
  ])
}

function text(value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(value.length)
  return Buffer.concat([length, Buffer.from(value)])
}
