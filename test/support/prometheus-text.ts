// Reads a page in Prometheus' text format as strictly as its own linter does, and says what is wrong with it.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface PrometheusPage {
  readonly families: ReadonlyMap<string, MetricFamily>;
  /** The value of one series. Throws when it is not there. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const nameOfMetric = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const nameOfLabel = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
// https://prometheus.io/docs/practices/naming/: base units, in full.
const foreignUnits = /_(ms|milliseconds|minutes|hours|kilobytes|megabytes|kb|mb|percent)(_|$)/;

interface OpenFamily {
  readonly name: string;
  readonly help: string;
  type: string;
  readonly samples: Sample[];
}

/**
 * @param text in format 0.0.4
 * @throws with every fault, one line each
 */
export function readPrometheusPage(text: string): PrometheusPage {
  const faults: string[] = text.endsWith('\n') ? [] : ['the last line does not end'];
  const families = new Map<string, OpenFamily>();
  let current: OpenFamily | undefined;
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) faults.push(`${name} has two HELP lines or is torn apart`);
      if (rest === '') faults.push(`${name} has no help`);
      current = { name, help: rest, type: '', samples: [] };
      families.set(name, current);
    } else if (keyword === 'TYPE') {
      if (current?.name !== name || current.type !== '' || current.samples.length > 0) {
        faults.push(`the TYPE of ${name} is not behind its HELP`);
      } else current.type = rest;
    } else if (line.startsWith('#')) faults.push(`not a comment of ours: ${line}`);
    else if (current === undefined) faults.push(`a sample before its family: ${line}`);
    else current.samples.push(sampleOf(line, faults));
  }
  for (const family of families.values()) faults.push(...faultsOfFamily(family));
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { families, value: (name, labels = {}) => seriesValue(families, name, labels) };
}

function seriesValue(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string>>,
): number {
  const wanted = seriesOf({ name, labels });
  for (const { samples } of families.values()) {
    const found = samples.find((sample) => seriesOf(sample) === wanted);
    if (found !== undefined) return found.value;
  }
  throw new Error(`there is no series ${wanted}`);
}

function sampleOf(line: string, faults: string[]): Sample {
  const match = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) faults.push(`not a sample: ${line}`);
  const [, name = '', inner = '', written = ''] = match ?? [];
  const value = written === '+Inf' ? Number.POSITIVE_INFINITY : Number(written);
  if (written === '' || Number.isNaN(value)) faults.push(`not a number: ${line}`);
  return { name, labels: labelsOf(inner, line, faults), value };
}

function labelsOf(inner: string, line: string, faults: string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = inner;
  while (rest !== '') {
    const match = /^([^=,{}"]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/.exec(rest);
    const [whole = '', name = '', value = ''] = match ?? [];
    if (!nameOfLabel.test(name) || name in labels) {
      faults.push(`not a list of labels: ${line}`);
      break;
    }
    labels[name] = value;
    rest = rest.slice(whole.length);
  }
  return labels;
}

const seriesOf = ({ name, labels }: Pick<Sample, 'name' | 'labels'>): string =>
  `${name}${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;

function faultsOfFamily(family: MetricFamily): string[] {
  const { name, type, samples } = family;
  const faults: string[] = [];
  if (!nameOfMetric.test(name)) faults.push(`${name} is no name`);
  if (!types.includes(type)) faults.push(`${name} has the type "${type}"`);
  if ((type === 'counter') !== name.endsWith('_total')) faults.push(`${name} is a ${type}`);
  if (foreignUnits.test(name)) faults.push(`${name} is not in a base unit`);
  const own = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
  const strange = samples.filter((sample) => !own.includes(sample.name));
  faults.push(...strange.map((sample) => `${sample.name} stands among ${name}`));
  const series = samples.map(seriesOf);
  if (new Set(series).size < series.length) faults.push(`${name} has a series twice`);
  if (type === 'counter' && samples.some(({ value }) => value < 0)) faults.push(`${name} counts below zero`);
  return type === 'histogram' ? [...faults, ...faultsOfHistogram(family)] : faults;
}

function faultsOfHistogram({ name, samples }: MetricFamily): string[] {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups].flatMap(([key, group]) => {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('+Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const count = group.find((sample) => sample.name === `${name}_count`)?.value;
    const isRising = (values: readonly number[]): boolean =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
    const isWhole =
      bounds.at(-1) === Number.POSITIVE_INFINITY &&
      isRising(bounds) &&
      isRising(counts) &&
      counts.at(-1) === count;
    const hasSum = group.some((sample) => sample.name === `${name}_sum`);
    return isWhole && hasSum ? [] : [`${name}${key} is no whole histogram`];
  });
}
