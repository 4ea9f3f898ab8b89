export interface NetworkSource {
  /** Returns whether the name resolves on this machine */
  resolve(host: string): Promise<boolean>
}
