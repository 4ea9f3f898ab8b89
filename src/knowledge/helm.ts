/** Where the chart's values hold further variables of the service, as text (SPEC.md 7; FIELD-NOTES.md 1.1). */
export const valuesKey = 'env.open'
