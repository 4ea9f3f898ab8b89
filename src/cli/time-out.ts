/** how long any one answer is waited for where --timeout does not say, in seconds */
export const defaultTimeoutSeconds = 10
