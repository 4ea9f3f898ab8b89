import { readFile, realpath } from 'node:fs/promises'
import { composeFilesIn } from '../../adapters/compose-file.ts'
import type { ComposeFile } from '../../adapters/compose-file.ts'
import { planEdits } from '../../adapters/settings-file/edits.ts'
import { parsedYaml } from '../../adapters/yaml/look.ts'
import { AdminError } from '../../core/error.ts'
import type { ComposedImage, EditedFile } from '../../core/sources.ts'
import { differences } from './differences.ts'
import { configured, declares, isMap, textOrNull } from './project.ts'
import type { Configured, Project } from './project.ts'
import { extendsFiles, partOf, tried } from './trial.ts'
import type { View } from './view.ts'

/** Implements `ServiceSource.composed`. Writes no temporary file beside the compose files. */
export async function composedImage({ engine, found }: View, edited: EditedFile | null): Promise<ComposedImage> {
  const { files: project, service } = found
  if (project === null) {
    throw new AdminError(
      'NOT_CONFIGURED',
      `the compose files of project ${found.project} are not on this machine, or this user cannot read them`,
      ['compose: {file: PATH}   # in the configuration'],
    )
  }
  const has = declares(service)
  const before = await configured(engine, project, { has })
  const now = imageIn(before, service)
  if (edited === null) return { ...now, now: now.image, then: now.image, others: [] }
  const { part, to } = await editedPart(project, edited)
  const untried: ComposedImage = { ...now, now: now.image, then: undefined, others: [] }
  if (part === null || extendsFiles(to)) return untried
  const was = part === project ? before : await configured(engine, part, { has })
  const after = await tried(part, { path: edited.file, to, kind: 'compose-file' }, async (words, input) =>
    configured(engine, part, { words, input, has }),
  )
  if (after === null) return untried
  const others = differences(was.value, after.value).filter((path) => path !== `services.${service}.image`)
  return { ...now, now: now.image, then: imageIn(after, service).image, others }
}

function imageIn(
  { value }: Configured,
  name: string,
): Pick<ComposedImage, 'platform' | 'isBuilt'> & { image: string | null } {
  const services = isMap(value) && isMap(value['services']) ? value['services'] : {}
  const service = Object.hasOwn(services, name) ? services[name] : {}
  const { image, platform, build } = isMap(service) ? service : {}
  return { image: textOrNull(image), platform: textOrNull(platform), isBuilt: build != null }
}

/**
 * Returns the file's new text, and the project or included part that has the file. The part is null if none has it, as
 * for a file that a service extends.
 */
async function editedPart(
  project: Project,
  { file, edits }: EditedFile,
): Promise<{ part: Project | null; to: Buffer }> {
  const to = Buffer.from(planEdits(file, await readFile(file, 'utf8'), edits).text)
  const { files } = await composeFilesIn(
    project.files,
    project.folder,
    async (path) => parsedYaml(await readFile(path, 'utf8')).value,
  )
  const places = await Promise.all(files.map(async (it) => ({ ...it, path: await realpath(it.path) })))
  const own: ComposeFile | undefined = places.find(({ path }) => path === file)
  return { part: own === undefined ? null : own.included === null ? project : await partOf(project, own.included), to }
}
