// Whether the alerts speak of what the programs really offer, and tell whoever is woken what to do. Whether they fire as
// they should is asked of Prometheus' own tool, in test/packages.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { parseArgsOptions } from '../../src/commands/command.ts';
import { registry } from '../../src/commands/registry.ts';
import { pageText } from '../support/markdown.ts';
import { agentMetrics, consumerMetrics, offeredBy } from '../support/metrics-pages.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const file = parse(pageText('infra/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = file.groups.flatMap((group) => group.rules);
const named = rules.map((rule) => [rule.alert, rule] as const);
const quoted = ({ annotations }: Rule): string[] =>
  [...`${annotations.summary} ${annotations.description}`.matchAll(/`([^`]+)`/g)].map(
    ([, text]) => text ?? '',
  );

let offered: Map<string, readonly string[]>;
let series: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[];

beforeAll(async () => {
  const pages = await Promise.all([agentMetrics(), consumerMetrics()]);
  offered = new Map(pages.flatMap(offeredBy).map(({ name, labels }) => [name, labels]));
  series = pages.flatMap(({ families }) => [...families.values()].flatMap(({ samples }) => samples));
});

const metricsIn = (expr: string): string[] => [...expr.matchAll(/\bseb_\w+/g)].map(([name]) => name);

describe.each(named)('%s', (_, rule) => {
  it('asks for metrics that there are, by labels and values that there are', () => {
    expect(metricsIn(rule.expr).length).toBeGreaterThan(0);
    for (const name of metricsIn(rule.expr)) expect(offered.has(name), name).toBe(true);
    for (const [, name, label, operator, value] of rule.expr.matchAll(/(seb_\w+)\{(\w+)(!?=)"([^"]*)"\}/g)) {
      expect(offered.get(name ?? ''), name).toContain(label);
      const found = series.some((each) => each.name === name && each.labels[label ?? ''] === value);
      expect(found, `${name} ${label}${operator}${value}`).toBe(true);
    }
  });

  it('names in its words only labels that its series have', () => {
    const known = ['job', 'instance', ...metricsIn(rule.expr).flatMap((name) => offered.get(name) ?? [])];
    const words = `${rule.annotations.summary} ${rule.annotations.description}`;
    for (const [, label] of words.matchAll(/\$labels\.(\w+)/g)) expect(known).toContain(label);
  });

  it('has a severity, one sentence of summary, and the first thing to do', () => {
    expect(['critical', 'warning']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/^\S.*[.]$/);
    expect(rule.annotations.description).toMatch(/ First: /);
  });

  it('quotes only commands that can be called', async () => {
    for (const line of quoted(rule).filter((text) => text.startsWith('seb '))) {
      const words = line
        .replaceAll(/\{\{.*?\}\}/g, 'NAME')
        .split(' ')
        .slice(1);
      const entry = registry.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name);
      const command = await entry?.load();
      expect(command, line).toBeDefined();
      const args = words.slice(entry?.name.split(' ').length);
      const options = parseArgsOptions(command?.options ?? {});
      expect(() => parseArgs({ args, options, allowPositionals: true }), line).not.toThrow();
    }
  });

  it('quotes only questions that a trail answers', async () => {
    for (const text of quoted(rule).filter((each) => each.startsWith('sqlite3 '))) {
      using directory = temporaryDirectory();
      const path = join(directory.path, 'trail.db');
      await using _trail = openSqliteTrail(path);
      using database = new DatabaseSync(path, { readOnly: true });
      expect(database.prepare(/'(.*)'/.exec(text)?.[1] ?? '').all(), text).toEqual([]);
    }
  });
});
