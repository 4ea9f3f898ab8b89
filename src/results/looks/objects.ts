import type { Look, Looked } from './look.ts'

/**
 * `com.example.Foo@1b2c3d4`, `[I@1b2c3d4` and the like, as `Object.toString` of Java writes it; an address of e-mail
 * has a point behind.
 */
const ofJava =
  /(?<![\w.@$-])(?:(?<!\[)\[+[BCDFIJSZ]|(?:(?<!\[)\[+L)?(?:[a-z_][\w$]*\.)*(?:[A-Z$][\w$]*|[a-z_]\w*\$[\w$]*)(?:\/0x[\da-f]{1,16})?;?)@(?=[a-f]*\d)[\da-f]{5,8}(?![\w.@-])/

/** `<app.Client object at 0x7f3c5e2a1d90>` of Python; a pointer of Go's heap. */
const ofOthers = /\bat 0x[\da-f]{6,16}\b|(?<!\w)0xc0[\da-f]{8}(?!\w)/i

export function objectLook({ text }: Looked): Look | null {
  const isAddress = (text.includes('@') && ofJava.test(text)) || (text.includes('0x') && ofOthers.test(text))
  return isAddress ? { what: 'the address of an object in memory' } : null
}
