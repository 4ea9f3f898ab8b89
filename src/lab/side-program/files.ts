import { readFile } from 'node:fs/promises'

/** A program of the lab that some faults need, besides the servers. It exits once its orders are gone. */
export interface SideProgram {
  /** the built program: 'lab/reverse-proxy/main.js' */
  program: string
  /** its name for people: 'the reverse proxy' */
  what: string
  /** the folder of all files that it reads and writes */
  folder: string
  /** JSON: its orders */
  orders: string
  /** JSON: its report */
  report: string
}

/** Reads the program's report; null if there is none yet. */
export async function readReport<Report>({ report }: Pick<SideProgram, 'report'>): Promise<Report | null> {
  return readFile(report, 'utf8').then(
    (text) => JSON.parse(text) as Report,
    () => null,
  )
}
