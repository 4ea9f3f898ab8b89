import { readFile } from 'node:fs/promises'

/** A program of the lab's that some faults need beside the servers. It ends by itself once its orders are gone. */
export interface SideProgram {
  /** as built: 'lab/reverse-proxy/main.js' */
  program: string
  /** 'the reverse proxy' */
  what: string
  /** its folder, in which all that it reads and writes lies */
  folder: string
  /** JSON: what it is told */
  orders: string
  /** JSON: what it says of itself */
  report: string
}

/** What it says of itself; null: nothing yet. */
export async function readReport<Report>({ report }: Pick<SideProgram, 'report'>): Promise<Report | null> {
  return readFile(report, 'utf8').then(
    (text) => JSON.parse(text) as Report,
    () => null,
  )
}
