import type { Controller } from '../../core/sources.ts'
import type { Container } from './containers.ts'
import { imageNameOf } from './find.ts'
import { runs } from './status.ts'
import { typed } from '../../core/typed.ts'

/** The label and the setting by which autoheal is told what to watch (willfarrell/docker-autoheal, README). */
const watched = { label: 'autoheal', setting: 'AUTOHEAL_CONTAINER_LABEL', all: 'all' } as const

/**
 * What may start the service's containers again: a running autoheal, which restarts what its engine calls unhealthy, in
 * the middle of a migration too (FIELD-NOTES.md 1.2); and the restart policy `always`, which leaves alone what was
 * stopped until the engine itself is started again. `all`: every container of the engine's compose projects, `own`:
 * those of the service.
 */
export function controllersOf(own: readonly Container[], all: readonly Container[], program: string): Controller[] {
  const healers = all.filter(
    (it) => runs(it) && imageNameOf(it.image) === 'autoheal' && own.some((service) => isWatched(service, it)),
  )
  const always = own.filter((it) => it.restartPolicy === 'always')
  return [
    ...healers.map(({ name }) => ({
      name: `autoheal (container \`${name}\`)`,
      paused: false,
      pause: [typed([program, 'stop', name])],
    })),
    ...always.map(({ name }) => ({
      name: `restart policy \`always\` (container \`${name}\`)`,
      paused: true,
      pause: [typed([program, 'update', '--restart', 'unless-stopped', name])],
    })),
  ]
}

function isWatched({ labels }: Container, healer: Container): boolean {
  const prefix = `${watched.setting}=`
  const label = healer.environment.find((it) => it.startsWith(prefix))?.slice(prefix.length) || watched.label
  return label === watched.all || labels[label]?.toLowerCase() === 'true'
}
