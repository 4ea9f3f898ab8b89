/** The environment for a server that a test may stop or fill: never one that was given. */
export function withoutGiven(): NodeJS.ProcessEnv {
  const { TESTOPS_ADMIN_LAB_SERVERS: way, ...others } = process.env
  const kept = Object.entries(others).filter(([name]) => !/^TESTOPS_ADMIN_LAB_\w+_URL$/.test(name))
  return {
    ...Object.fromEntries(kept),
    ...(way === undefined || way === 'given' ? {} : { TESTOPS_ADMIN_LAB_SERVERS: way }),
  }
}
