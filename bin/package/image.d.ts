/** What an image is built from: `engine` is docker, podman or what takes the same words */
export interface ImageParts {
  engine: string
  /** The source folder, and one for what is made on the way */
  root: string
  work: string
  /** The one file, and the licences of what it contains */
  file: string
  notices: string
}

export function buildImage(parts: ImageParts): string
