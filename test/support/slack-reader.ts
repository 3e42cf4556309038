// Reads mrkdwn as Slack's clients do: what it would link, ping, date, style and show.

/** What becomes of one text. */
export interface ReadMrkdwn {
  /** Of people, groups, channels and everybody, in Slack's notation without the brackets. */
  readonly mentions: readonly string[];
  readonly links: readonly { readonly url: string; readonly label: string }[];
  /** Epoch seconds. */
  readonly dates: readonly number[];
  readonly emojis: readonly string[];
  /** Bold, italic and struck texts, and code spans, with their marks. */
  readonly styled: readonly string[];
  /** Lines shown as quotations. */
  readonly quotations: readonly string[];
  /** What a person reads, with the marks of styles still in it. */
  readonly shown: string;
}

/** @throws when the text holds a bracket that belongs to no sequence: Slack would guess */
export function readMrkdwn(text: string): ReadMrkdwn {
  const mentions: string[] = [];
  const links: { url: string; label: string }[] = [];
  const dates: number[] = [];
  const flat = text.replace(/<([^<>]*)>/g, (_, sequence: string) => {
    const [head = '', ...rest] = sequence.split('|');
    const label = rest.join('|');
    const date = /^!date\^(-?\d+)\^/.exec(head);
    if (date !== null) {
      dates.push(Number(date[1]));
      return label;
    }
    if (/^[!@#]/.test(head)) {
      mentions.push(head);
      return head;
    }
    links.push({ url: decoded(head), label: decoded(label) });
    return label;
  });
  if (/[<>]/.test(flat)) throw new Error(`a bracket without a partner in ${flat}`);
  return { mentions, links, dates, ...readStyles(flat), shown: decoded(flat) };
}

function readStyles(text: string): Pick<ReadMrkdwn, 'emojis' | 'styled' | 'quotations'> {
  const code = text.match(/`[^`\n]+`/g) ?? [];
  const rest = text.replace(/`[^`\n]+`/g, '\u0000');
  const marked = /(?<![\p{L}\p{N}])([*_~])(?=\S)[^\n]*?\S\1(?![\p{L}\p{N}])/gu;
  return {
    styled: [...(rest.match(marked) ?? []), ...code],
    emojis: (rest.match(/:[\w+'-]+:/g) ?? []).filter((name) => !/^:\d\d:$/.test(name)),
    quotations: text.split('\n').filter((line) => line.startsWith('&gt;')),
  };
}

const decoded = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
