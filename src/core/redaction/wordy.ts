/** `Chrome120`, `loginPage`, `screenshot20261122103001`: words, followed by a number or a time */
const words = /^\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}{2,})*(?:\d{1,4}|20\d{6}(?:\d{4}|\d{6})?|1[5-9]\d{8}(?:\d{3})?)?$/u
const capitals = /^\p{Lu}+\d{0,4}$/u
const stamp = /^\d{8}T\d{4,9}Z?$/i
/** Hashes as short as those at the end of names of pods and images */
const hash = /^(?:[a-z\d]{1,12}|[A-Z\d]{1,12})$/
/** Names of devices, and parts of keys that are short by chance */
const anyPart = /^\w{1,11}$/
const mostOfAny = 12

/**
 * Returns true if a name is made of words, numbers and short hashes, as those of runs, images and files are. Keys have
 * long parts that are neither.
 */
export function isWordy(name: string): boolean {
  let mixed = 0
  for (const part of name.split(/[-_:.]/)) {
    if (/^\d*$/.test(part) || words.test(part) || capitals.test(part) || stamp.test(part) || hash.test(part)) continue
    if (!anyPart.test(part)) return false
    mixed += part.length
  }
  return mixed <= mostOfAny
}

/** Words before a commit or a digest in a path */
const beforeHash = /^(?:commits?|trees?|blobs?|blame|raw|revisions?|manifests|digests?|sha\d{0,3})$/i

/**
 * Returns true if a part of an address is most likely a key, as in webhooks: long, of letters and digits, and no name,
 * UUID or digest.
 */
export function isKey(segment: string, before: string): boolean {
  if (segment.length < 20 || !/^[\w:-]+$/.test(segment) || !/\d/.test(segment) || !/[a-z]/i.test(segment)) return false
  if (/^sha\d{1,3}:[\da-f]{32,128}$/i.test(segment) || (beforeHash.test(before) && /^[\da-f]{20,128}$/i.test(segment)))
    return false
  return !isWordy(segment)
}
