/** Returns the check as it is: for its type. */
export const defineCheck = (check) => check
