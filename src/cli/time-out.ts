/** Seconds to wait for any single answer, unless --timeout says otherwise */
export const defaultTimeoutSeconds = 10
