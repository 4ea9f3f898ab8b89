/** How browsers sign in (FIELD-NOTES.md 4: names as seen in public test suites). */
export const webSession = {
  cookie: 'ALLURE_TESTOPS_SESSION',
  csrfCookie: 'XSRF-TOKEN',
  csrfHeader: 'X-XSRF-TOKEN',
  /** SPEC.md 4.5: page for local accounts */
  loginPage: '/login/system',
  signIn: '/api/login/system',
  /** SPEC.md 7: what a stale session answers, with 401 */
  csrfMissing: 'The expected CSRF token could not be found',
} as const
