// Writes the notices for packages of others in the bundle, which their licences require, and a list for machines
// (CycloneDX). Both are made from what esbuild reports, and hold neither time nor place, so that the same sources make
// the same files.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import satisfies from 'spdx-satisfies'
import { allowed, ofTheBundler, reviewed } from './licences.js'

const licenceFile = /^(?:licen[sc]e|copying|unlicense)(?:[._-].*)?$/i
const noticeFile = /^notice(?:[._-].*)?$/i
const code = /\.(?:[cm]?[jt]sx?|json|map)$/i

/**
 * Lists the packages in bundles by name, each with its licence and texts. `metafiles` are esbuild's, with paths from
 * `root`. Throws if a file belongs to no package, if a licence is not allowed, and if its text is missing.
 */
export function bundledPackages(root, metafiles) {
  const users = new Map()
  for (const { inputs, outputs } of metafiles) {
    for (const { inputs: parts } of Object.values(outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(parts)) {
        if (bytesInOutput === 0 || isOwn(path)) continue
        const folder = folderOf(path)
        const uses = users.get(folder) ?? new Set()
        users.set(folder, uses)
        for (const { path: imported } of inputs[path]?.imports ?? [])
          if (imported in inputs && !isOwn(imported) && folderOf(imported) !== folder) uses.add(folderOf(imported))
      }
    }
  }
  users.set(ofTheBundler, new Set())
  const found = new Map([...users.keys()].map((folder) => [folder, packageIn(root, folder)]))
  const packages = [...found].map(([folder, it]) => ({
    ...it,
    uses: [...users.get(folder)].flatMap((used) => found.get(used)?.id ?? []).sort(),
  }))
  const distinct = new Map(packages.map((it) => [it.id, it]))
  return [...distinct.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function isOwn(path) {
  return path.startsWith('src/') || path === 'explain/index.yaml'
}

/** Returns the folder of a file's package: the path up to the package behind the last `node_modules`. */
function folderOf(path) {
  const [folder] = /^.*(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/@][^/]*(?=\/)/.exec(path) ?? []
  if (folder === undefined) throw new Error(`${path} is in the bundle, and in no package: whose is it?`)
  return folder
}

function packageIn(root, folder) {
  const place = join(root, folder)
  const file = join(place, 'package.json')
  if (!existsSync(file)) throw new Error(`${folder} is in the bundle, and has no package.json: whose is it?`)
  const { name, version, license, licenses, description } = JSON.parse(readFileSync(file, 'utf8'))
  if (!name || !version) throw new Error(`${folder} is in the bundle, and its package.json gives no name or version`)
  const id = `${name}@${version}`
  const licence =
    typeof license === 'string' ? license : (license?.type ?? licenses?.map?.(({ type }) => type).join(' OR '))
  if (!licence || !isAllowed(licence))
    throw new Error(
      `${id} is in the bundle under the licence ${licence ?? '(none)'}, which bin/licences.js does not allow`,
    )
  const texts = textsIn(place)
  if (!texts.some(({ isLicence }) => isLicence)) texts.unshift(reviewedText(root, place, id))
  const copyright = [
    ...new Set(
      texts.flatMap(({ text }) =>
        text
          .split('\n')
          .filter((line) => /^\W*copyright\b.*\d{4}/i.test(line))
          .map((line) => line.trim()),
      ),
    ),
  ]
  return { id, name, version, licence, description, texts, copyright }
}

function isAllowed(licence) {
  try {
    return satisfies(licence, allowed)
  } catch {
    // not an SPDX expression
    return false
  }
}

function textsIn(place) {
  const names = readdirSync(place, { withFileTypes: true })
    .filter((it) => it.isFile())
    .map(({ name }) => name)
    .sort()
  const files = names.filter((name) => (licenceFile.test(name) || noticeFile.test(name)) && !code.test(name))
  return files
    .map((file) => ({ file, isLicence: licenceFile.test(file), text: textOf(join(place, file)) }))
    .filter(({ text }) => text !== '')
}

function reviewedText(root, place, id) {
  const known = reviewed[id]
  if (!known)
    throw new Error(
      `${id} is in the bundle without the text of its licence: look where it stands, and add it to ` +
        `\`reviewed\` in bin/licences.js`,
    )
  const whole = textOf(join(known.package ? join(root, 'node_modules', known.package) : place, known.file))
  const at = known.from ? whole.search(known.from) : 0
  const text = at < 0 ? '' : whole.slice(at).trim()
  if (!/copyright/i.test(text))
    throw new Error(`the licence of ${id} is not any more where bin/licences.js says that it stands`)
  return { file: known.package ? `${known.file} of ${known.package}` : known.file, isLicence: true, text }
}

function textOf(file) {
  return readFileSync(file, 'utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
}

const rule = '-'.repeat(80)

/** Writes the notices for people. A text that several packages share appears once. */
export function noticesOf(packages, own) {
  const groups = new Map()
  for (const it of packages) {
    const key = JSON.stringify(it.texts.map(({ text }) => text))
    groups.set(key, [...(groups.get(key) ?? []), it])
  }
  const head = `${own} holds parts of the packages below, under the licences that stand with each.\n`
  const parts = [...groups.values()].map((some) => {
    const names = some.map(({ id, licence }) => `${id} (${licence})`).join('\n')
    return `${names}\n\n${some[0].texts.map(({ text }) => text).join('\n\n')}\n`
  })
  return [head, ...parts].join(`\n${rule}\n\n`)
}

/** Writes the list for machines: CycloneDX 1.6 as JSON. The contents decide its serial number. */
export async function sbomOf(packages, own) {
  const [
    { Bom, Component, LicenseExpression, SpdxLicense },
    { ComponentType },
    {
      JSON: { Normalize },
      JsonSerializer,
    },
    { Spec1dot6 },
  ] = await library()
  const component = (type, { id, name, version, licence, description }) => {
    const [, group, rest] = /^(?:(@[^/]+)\/)?(.*)$/.exec(name)
    const made = new Component(type, rest, {
      bomRef: id,
      group,
      version,
      description,
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    })
    made.licenses.add(/^[\w.-]+$/.test(licence) ? new SpdxLicense(licence) : new LicenseExpression(licence))
    return made
  }
  const { name, version, license: licence, description } = own
  const whole = component(ComponentType.Application, { id: `${name}@${version}`, name, version, licence, description })
  const bom = new Bom({ serialNumber: serialOf([name, version, packages]) })
  bom.metadata.component = whole
  const parts = new Map(packages.map((it) => [it.id, component(ComponentType.Library, it)]))
  for (const { id, copyright, uses } of packages) {
    const part = parts.get(id)
    if (copyright.length > 0) part.copyright = copyright.join('\n')
    for (const used of uses) part.dependencies.add(parts.get(used).bomRef)
    bom.components.add(part)
    whole.dependencies.add(part.bomRef)
  }
  return `${new JsonSerializer(new Normalize.Factory(Spec1dot6)).serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** Loads the CycloneDX library. That takes a while, so call it before the library is needed. */
export async function library() {
  return Promise.all([
    import('@cyclonedx/cyclonedx-library/Models'),
    import('@cyclonedx/cyclonedx-library/Enums'),
    import('@cyclonedx/cyclonedx-library/Serialize'),
    import('@cyclonedx/cyclonedx-library/Spec'),
  ])
}

/** Returns a serial number as a name-based UUID of RFC 9562 (version 8, of SHA-256). */
function serialOf(content) {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const variant = ((parseInt(hex[16], 16) & 3) | 8).toString(16)
  const last = `${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${last}`
}
