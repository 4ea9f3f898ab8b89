/** A package of others in a bundle, with its licence and the texts that must be shown with it. */
export interface BundledPackage {
  /** `NAME@VERSION` */
  id: string
  name: string
  version: string
  licence: string
  description?: string
  texts: { file: string; isLicence: boolean; text: string }[]
  copyright: string[]
  /** ids of bundled packages that it imports */
  uses: string[]
}

interface Metafile {
  inputs: Record<string, { imports?: { path: string }[] }>
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>
}

export function bundledPackages(root: string, metafiles: readonly Metafile[]): BundledPackage[]
export function noticesOf(packages: readonly BundledPackage[], own: string): string
export function sbomOf(
  packages: readonly BundledPackage[],
  own: { name: string; version: string; license: string; description?: string },
): Promise<string>
