import type { ExplainEntry } from './entry.ts'

export const serviceEntries: readonly ExplainEntry[] = [
  {
    id: 'service/running',
    kind: 'check',
    title: 'service runs',
    severities: ['error'],
    meaning:
      'The platform (systemd, Compose, Kubernetes) says that the service is stopped or has failed, or this ' +
      'program cannot ask it.',
    causes: [
      'It was stopped on purpose and not started again.',
      'It fails at its start, because something that it needs is missing: the database, the change-log lock, ' +
        'its queues, a processor with x86-64-v3.',
      'It was killed: out of memory, or a health probe that failed for too long.',
    ],
    verify: ['systemctl status testops', 'journalctl -u testops -n 200', 'docker compose ps', 'kubectl get pods'],
    remedies: [
      {
        text: 'Look at the other problems first: one of them may be the reason. Then start the service.',
        commands: ['systemctl start testops', 'docker compose up -d', 'kubectl rollout restart deployment/NAME'],
      },
      {
        text: 'If it ends again and again, read the last lines of its log: they say why.',
        commands: ['journalctl -u testops -n 200'],
      },
    ],
    source: 'docs/facts/service.md#what-it-is, docs/facts/service.md#errors, docs/facts/deployment.md#chart',
  },
  {
    id: 'service/crashes',
    kind: 'check',
    title: 'service stays up',
    severities: ['error', 'warning'],
    meaning:
      'A process, container or pod of the service ended although nobody stopped it, or it cannot start. It ' +
      'is an error while the service is down because of it. It is a warning if it came back within the last ' +
      'hour. The check searches its last output for known causes; on Kubernetes, the log of the previous ' +
      'container. If it finds none, it shows the last error.',
    signatures: ['out-of-memory'],
    causes: [
      'Something that it needs at its start is missing: the database, the change-log lock, its queues, a processor with x86-64-v3.',
      'It needs more memory than its limit allows: OOMKilled by the kernel, or java.lang.OutOfMemoryError in its log.',
      'Its image cannot be pulled (ImagePullBackOff), or no node has room for its pod.',
      'A liveness probe killed it: it migrated for longer than its startup probe waits, or it hung.',
      'Its pod was evicted, because its node ran out of disk or memory.',
    ],
    verify: [
      'kubectl get pods   # RESTARTS, STATUS',
      'kubectl logs POD --previous',
      'kubectl describe pod POD   # Last State, Events',
      'docker compose ps --all',
      'systemctl show testops --property=NRestarts,Result,ExecMainStatus',
      'journalctl -k | grep -i oom   # on the machine',
    ],
    remedies: [
      { text: 'Look at the other problems first: one of them may be the reason.', commands: ['testops-admin doctor'] },
      {
        text:
          'If memory is short, raise the limit of the container, and keep the heap of its JVM (-Xmx, ' +
          '-XX:MaxRAMPercentage) below it.',
        commands: ['kubectl top pods', 'docker stats --no-stream'],
      },
      {
        text: 'If its probes end a long migration, switch them off for that start.',
        commands: ['helm upgrade RELEASE CHART -f VALUES --set probes.enabled=false'],
      },
    ],
    source:
      'docs/facts/service.md#errors, docs/facts/deployment.md#chart, docs/facts/deployment.md#compose, docs/facts/processors.md',
    words: [
      'CrashLoopBackOff, OOMKilled',
      'jvm is out of memory, java heap space',
      'сервис падает, сервис перезапускается, не хватает памяти',
    ],
  },
  {
    id: 'service/ready',
    kind: 'check',
    title: 'service is ready to serve',
    severities: ['error', 'warning'],
    meaning:
      'The service runs, but the readiness probe of its pod, or the health check of its container, says that ' +
      'it is not ready. It gets no requests then. It is an error if no instance is ready, a warning if some ' +
      'are. For the first five minutes the check reports nothing, because a start may take that long.',
    causes: [
      'A part that its health depends on is down or refuses it: the database, the broker, the session store.',
      'It hangs, or is so busy that it does not answer its probe in time.',
      'The probe asks the wrong port or path, for example after a change of the context path.',
    ],
    verify: [
      'kubectl describe pod POD   # Events: Readiness probe failed',
      "docker inspect -f '{{json .State.Health}}' CONTAINER",
      'curl -i BASE_URL/api/management/health/readiness',
    ],
    remedies: [
      { text: 'Look at the other problems first: one of them may be the reason.', commands: ['testops-admin doctor'] },
      { text: 'If it hangs, restart it.', commands: ['testops-admin service restart'] },
    ],
    source: 'docs/facts/deployment.md#chart, docs/facts/deployment.md#compose',
  },
  {
    id: 'service/unfinished-repair',
    kind: 'check',
    title: 'no repair is unfinished',
    severities: ['error', 'warning'],
    meaning:
      'A repair was killed, lost its connection, or had to stop. The service may be stopped, and messages may wait in another queue. ' +
      'Every step is on record, on the machine that started the repair and, if there is a broker, in a durable queue there. A warning ' +
      'means that the broker holds a record that fits no repair of this deployment: somebody else wrote it, and it is ignored.',
    causes: [
      'The process, its terminal or its machine ended while it was at work.',
      'A step failed: the service did not start, or a connection was lost.',
      'Something else changed the deployment at the same time, and the repair stopped.',
      'A warning: somebody who may write to the broker planted a record.',
    ],
    verify: ['testops-admin history', "rabbitmqctl list_queues name messages | grep '^testops-admin.run'"],
    remedies: [
      { text: 'Resume it. Each step that is done is checked and not repeated.', commands: ['testops-admin resume'] },
      {
        text: 'Undo it: the service starts again, and what was changed is restored where that is possible.',
        commands: ['testops-admin undo RUN'],
      },
      {
        text: 'From another machine: read its plan first. Then adopt it, if it is yours.',
        commands: ['testops-admin resume --adopt RUN --dry-run'],
      },
      {
        text: 'A record that fits no repair: this shows it, saves it, and removes it alone.',
        commands: ['testops-admin discard RUN'],
      },
    ],
    source: 'docs/repairs/README.md#resume-or-undo',
  },
  {
    id: 'service/settings',
    kind: 'check',
    title: 'service runs with its declared settings',
    severities: ['warning'],
    meaning:
      'The service runs with other settings than its files say. The check compares the values file ' +
      '(`kubernetes.values`) with the pod template, the compose file and .env with the container, and the ' +
      'environment file with the environment that the process started with. Of secrets it says only that they differ.',
    causes: [
      'A file was edited, and the service was not restarted, or the release not upgraded.',
      'A setting was changed in the cluster by hand, or by set-env: the next helm upgrade undoes it.',
      'The file is not the one that the service was deployed from.',
    ],
    verify: [
      'helm get values RELEASE',
      'kubectl set env deployment/NAME --list',
      "docker inspect -f '{{json .Config.Env}}' CONTAINER",
      "sudo tr '\\0' '\\n' < /proc/PID/environ",
    ],
    remedies: [
      {
        text: 'If the file is right, restart the service, or upgrade the release.',
        commands: ['testops-admin service restart', 'helm upgrade RELEASE CHART -f VALUES'],
      },
      {
        text: 'If the running settings are right, write them into the file.',
        commands: ['testops-admin set-env NAME=VALUE --values FILE'],
      },
    ],
    source: 'docs/facts/deployment.md#chart, docs/facts/deployment.md#compose, docs/facts/deployment.md#settings',
  },
  {
    id: 'service/image',
    kind: 'check',
    title: 'image fits the build and the machines',
    severities: ['error', 'warning'],
    meaning:
      'There are two images: testops, and testops-legacy for processors without x86-64-v3. testops-legacy ' +
      'exists since build 527u01. With an earlier build it cannot be pulled: that is an error. It is a ' +
      'warning if every machine has x86-64-v3, because testops-legacy is not needed there. It is also a ' +
      'warning if image name, version and running image disagree.',
    causes: [
      'The image name was changed without the version, or the other way round.',
      'The machines were replaced by newer ones, and the image stayed.',
      'A rollout has not finished, or values were edited and never applied.',
    ],
    verify: [
      'helm get values RELEASE',
      'kubectl get deployment -o wide',
      'docker compose config | grep image:',
      'grep -m1 ^flags /proc/cpuinfo',
    ],
    remedies: [
      {
        text: 'For testops-legacy, choose build 527u01 or later.',
        commands: ['testops-admin use-legacy-image --values FILE --build 527u01   # or --compose FILE'],
      },
      {
        text: 'If all machines have x86-64-v3, go back to the standard image.',
        commands: ['testops-admin use-legacy-image --values FILE --revert   # or --compose FILE'],
      },
      {
        text:
          'By hand, and if name, version and running image disagree: write the image that should run into ' +
          'the values (image.imageName and version), or into the file of Compose (image:), and apply them.',
        commands: ['helm upgrade RELEASE CHART -f VALUES', 'docker compose up -d'],
      },
    ],
    source:
      'docs/facts/service.md#what-it-is, docs/facts/service.md#errors, docs/facts/service.md#versions, docs/facts/deployment.md#chart',
  },
  {
    id: 'service/cpu-level',
    kind: 'check',
    title: 'processors have what the image needs',
    severities: ['error', 'warning'],
    meaning:
      'Since version 5.26 (build 526u03), the standard image needs the processor level x86-64-v3. On a ' +
      'processor without it the service ends at once: "CPU does not support x86-64-v3" is the first and only line of its log.',
    causes: [
      'The processor is older than that level, which needs AVX2, BMI1, BMI2, F16C, FMA, LZCNT and MOVBE.',
      'The machine is virtual, and its hypervisor hides features of the real processor: with the CPU type ' +
        'kvm64 or qemu64, or one such as x86-64-v2-AES.',
    ],
    verify: [
      'testops-admin check-cpu   # or --file with what /proc/cpuinfo shows on another machine; on nodes of a cluster, --prove',
      "grep -m1 ^flags /proc/cpuinfo | tr ' ' '\\n' | grep -wE 'avx|avx2|bmi1|bmi2|f16c|fma|abm|movbe|xsave'",
      '/lib64/ld-linux-x86-64.so.2 --help | tail -5',
    ],
    remedies: [
      {
        text:
          'If the machine is virtual, change its CPU type in the hypervisor to `host` (or to x86-64-v3, if ' +
          'the real processor has it). Then stop and start the machine.',
        commands: [],
      },
      {
        text: 'Otherwise, run the image testops-legacy. It exists since build 527u01.',
        commands: ['testops-admin use-legacy-image --values FILE   # or --compose FILE'],
      },
      {
        text:
          "By hand: in the chart's values, set image.imageName to testops-legacy and version to such a " +
          'build; in the file of Compose, set `image:`. Then apply them.',
        commands: ['helm upgrade RELEASE CHART -f VALUES', 'docker compose up -d'],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/service.md#versions, docs/facts/processors.md',
  },
  {
    id: 'service/clocks',
    kind: 'check',
    title: 'clocks agree',
    severities: ['error', 'warning'],
    meaning:
      'The clock of one part (database, session store, API or this machine) differs from the others. Tokens ' +
      'and sessions then begin or expire at the wrong time, and times in logs mislead. A different time zone ' +
      'is no fault: only the clocks are compared.',
    causes: [
      'Time synchronisation is off or cannot reach its servers.',
      'A virtual machine was suspended, or restored from a snapshot.',
      'Somebody set the clock by hand.',
    ],
    verify: [
      'date -u',
      'psql DATABASE -c "SELECT now() AT TIME ZONE \'UTC\'"',
      'redis-cli -h HOST -p PORT time',
      'curl -sI BASE_URL/swagger-ui.html | grep -i ^date:',
      'timedatectl timesync-status',
    ],
    remedies: [
      {
        text: 'Switch on time synchronisation on the machine with the wrong clock. Containers use the clock of their machine.',
        commands: ['timedatectl set-ntp true', 'chronyc tracking'],
      },
      {
        text: 'Then check the sessions that were written with the wrong clock.',
        commands: ['testops-admin doctor --only sessions/clock'],
      },
    ],
    source: 'docs/facts/service.md#errors, docs/facts/sessions.md',
  },
]
