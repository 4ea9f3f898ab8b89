/** Figures of the product and its parts that judgements rest on. */
export const limits = {
  /** SPEC.md 8: larger files count as attachments */
  resultFileBytes: 2_000_000,
  /**
   * SPEC.md 8: the rest of a test's text field is cut off. Counted in UTF-16 code units, as a Java `String` counts. A
   * database's column of 255 characters counts code points, which are never more, so what fits here fits there.
   */
  fieldCharacters: 255,
  /** nginx.org, proxy_read_timeout: the default */
  proxyReadTimeoutMs: 60_000,
  /** FIELD-NOTES.md 4: an indexed repository keeps a session's hash this long after the session's end */
  indexedSessionGraceSeconds: 300,
  /** How far a session's times may differ from the store's clock: smaller differences of clocks do no harm */
  sessionToleranceMs: 60_000,
} as const
