// The demo's last words, when nothing of it is left.

/** @returns what to try next, as command lines that work where this one was typed */
export function farewell(): string {
  const seb = process.argv[1]?.endsWith('.ts') ? 'npm run --silent seb --' : 'seb';
  const lines = [
    ['demo --vms 100 --scenario fault-domains', 'a hundred VMs, rebooted back to back'],
    ['emulate imds --list', 'every scenario there is; docs/scenarios.md says how to write one'],
    ['emulate imds --scenario user-reboot --speed 60', 'instance metadata for an agent of your own'],
    ['emulate eventhubs', 'a hub for it to send to'],
    ['config docs', 'every setting of agent.yaml, for "agent -c agent.yaml" on a real VM'],
  ];
  const list = lines.map(([command, shows]) => `  # ${shows}\n  ${seb} ${command}\n`);
  return `\nIts directory is removed and its ports are closed. Next:\n${list.join('')}`;
}
