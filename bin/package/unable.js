/** A reason why nothing is packaged that the caller can do something about. */
export class Unable extends Error {}
