import { readFile } from 'node:fs/promises'
import { firstV3Build, isAtLeast, parseBuild } from '../../knowledge/builds.ts'
import { missingFlags, parseCpuinfo } from '../../knowledge/cpu-levels.ts'
import { images } from '../../knowledge/images.ts'
import type { PracticeMachine } from './machine.ts'

/** Exit code of a program that glibc refuses to start, and the one line it prints (FIELD-NOTES.md 5). */
export const cpuRefusal = { exitCode: 127, line: 'Fatal glibc error: CPU does not support x86-64-v3' } as const

/**
 * True if the image's C library starts on this processor (SPEC.md 7: the standard image needs x86-64-v3 since build
 * 526u03).
 */
export async function cpuSuffices(machine: PracticeMachine): Promise<boolean> {
  const build = parseBuild(machine.build)
  if (
    machine.cpuinfo === null ||
    machine.image !== images.standard ||
    build === null ||
    !isAtLeast(build, firstV3Build)
  )
    return true
  const processors = parseCpuinfo(await readFile(machine.cpuinfo, 'utf8'))
  return missingFlags(processors, 'x86-64-v3').length === 0
}
