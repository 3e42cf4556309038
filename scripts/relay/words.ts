// The fixed words of the relay's cards, by what a record says: the same as those of the `teams` sink.

/** The state in words, by what the relay calls the type of the record. */
export const states = {
  scheduled: 'Maintenance scheduled',
  updated: 'Maintenance updated',
  started: 'Maintenance in progress',
  completed: 'Maintenance completed',
  canceled: 'Maintenance canceled',
  test: 'Test message',
} as const;

/** The colour of the title, where the severity asks for no other. */
export const colors = {
  scheduled: 'Warning',
  updated: 'Warning',
  started: 'Accent',
  completed: 'Good',
  canceled: 'Default',
  test: 'Default',
} as const;

/** What an event does, by its type in lower case: in a headline, and in a line of its own. */
export const impacts = {
  freeze: { short: '', full: 'paused' },
  reboot: { short: 'restarted', full: 'restarted' },
  redeploy: {
    short: 'moved to other hardware, temporary disk lost',
    full: 'moved to other hardware, temporary disk lost',
  },
  preempt: { short: 'Spot eviction', full: 'evicted (Spot)' },
  terminate: { short: 'deleted', full: 'deleted' },
} as const;

/** Why the bridge says what Azure did not say, by the reason in the record. */
export const inferences = {
  'removed-after-started':
    'Inferred: Azure removed the event after it had started, which is how it says that one is over.',
  'removed-before-not-before':
    'Inferred: Azure removed the event before its time, which is how it says that one is called off.',
  'start-not-observed':
    'Inferred, and in doubt: Azure removed the event and nobody saw it start, but it was due or approved, the VM restarted, or the agent had not looked for more than 10 s. It most likely ran.',
} as const;

export const testRemark = 'Somebody tries whether notices arrive here. There is nothing to do.';

export const freezeRemark =
  'The pause itself is shorter than the event, which Azure may keep open for minutes: it is over when its end is reported.';
