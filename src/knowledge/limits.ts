/** Figures of the product and its parts that judgements rest on. */
export const limits = {
  /** SPEC.md 8: what is larger is taken for an attachment */
  resultFileBytes: 2_000_000,
  /**
   * SPEC.md 8: the rest of a test's text field is cut off. Counted in UTF-16 code units, as a Java `String` counts; a
   * database's column of 255 characters counts code points, which are never more, so that what fits here fits there.
   */
  fieldCharacters: 255,
  /** nginx.org, proxy_read_timeout: what it waits unless set */
  proxyReadTimeoutMs: 60_000,
  /** FIELD-NOTES.md 4: an indexed repository keeps a session's hash this long after the session's end */
  indexedSessionGraceSeconds: 300,
  /** how far a session's times may differ from the store's clock: clocks that differ by less do no harm */
  sessionToleranceMs: 60_000,
} as const
