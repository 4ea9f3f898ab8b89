// A check of your own for `testops-admin doctor`. Name its file in the configuration of a deployment:
//
//     deployments:
//       prod:
//         checks: [checks/waiting.mjs]
//
// The name of the file becomes the name of the check, here own/waiting. Try it:
//
//     testops-admin doctor --only own/waiting --verbose
//
// It runs in a process of its own. It may import only modules of Node, such as `node:fs`.

/** Most messages that may wait in a queue */
const most = 1000

/** @type {import('testops-admin/check').Check<'broker'>} */
export default {
  // The version of this form.
  version: 1,

  // The healthy state, as you would say it.
  title: `no queue holds more than ${most} messages`,

  // The sources that `run` gets: api, broker, database, logs, service, sessions. If one of them cannot be opened, the
  // check is not run, and doctor says why.
  reads: ['broker'],

  // What to do about a problem. In the commands, {deployment} is the name of the deployment; {restart}, {status} and
  // {logs} are the commands of its platform.
  remedy: {
    text: 'See in the log of the service why it does not take the messages.',
    commands: ['{logs}'],
  },

  // The judgement. It only looks, and changes nothing. It may throw: its result is then unknown.
  async run({ broker }, deployment) {
    const queues = await broker.queues()
    if (queues.length === 0) return { status: 'skipped', reason: `${deployment.name} has no queues` }

    // after its start, the broker has not counted yet: then nothing is known
    const full = queues.filter(({ messages }) => messages !== null && messages > most)
    if (full.length === 0 && queues.some(({ messages }) => messages === null))
      throw new Error('the broker has not counted the messages of every queue yet')
    if (full.length === 0) return { status: 'ok', detail: `${queues.length} queues hold few messages` }

    return {
      status: 'problem',
      severity: 'warning', // or 'error'
      // at most 50 findings are taken
      findings: full.slice(0, 50).map(({ name, messages }) => ({
        message: `Queue ${name} holds ${messages} messages`,
        // what a person can check by hand
        evidence: [`rabbitmqctl list_queues -p ${broker.vhost} name messages`],
      })),
    }
  },
}
