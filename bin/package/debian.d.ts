export function maintainer(author: unknown): string
