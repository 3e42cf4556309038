// Makes texts from outside harmless in an Adaptive Card, by an expression: the counterpart of the sink's own escaping.
import { call, concat, type Expression, text, when } from './expression.ts';

// Both break lines, or steer how the rest of the line reads.
const breaks = ['%0D', '%0A', '%09', '%C2%85', '%E2%80%A8', '%E2%80%A9'];
const unseen = [
  ...['%D8%9C', '%C2%AD', '%E2%80%8B', '%E2%80%8E', '%E2%80%8F', '%E2%81%A0', '%EF%BB%BF'],
  ...['%E2%80%AA', '%E2%80%AB', '%E2%80%AC', '%E2%80%AD', '%E2%80%AE'],
  ...['%E2%81%A6', '%E2%81%A7', '%E2%81%A8', '%E2%81%A9'],
];

// The backslash is the first, or those that the others bring would be doubled.
// `{` begins dates and templates, and the `<` of a mention does not care for escapes, so that it has to go.
const signs = ['\\', '`', '*', '_', '[', ']', '{', '~', '#', '|', '>', '&'];

const replaced = (value: Expression, from: Expression, to: string): Expression =>
  call('replace', value, from, text(to));

const decoded = (code: string): Expression => call('decodeUriComponent', text(code));

/**
 * The text on one line, no longer than it may be, as Markdown that renders as that text.
 * @param value never null
 */
export function harmless(value: Expression, lengthMax: number): Expression {
  const short = shortened(value, lengthMax);
  const spaced = breaks.reduce((so, code) => replaced(so, decoded(code), ' '), short);
  const seen = unseen.reduce((so, code) => replaced(so, decoded(code), ''), spaced);
  const escaped = signs.reduce((so, sign) => replaced(so, text(sign), `\\${sign}`), seen);
  return replaced(escaped, text('<'), '‹');
}

const shortenedMark = '… (shortened)';

const shortened = (value: Expression, lengthMax: number): Expression => {
  const start = call('take', value, String(lengthMax - shortenedMark.length));
  const isLonger = call('greater', call('length', value), String(lengthMax));
  return when(isLonger, concat(start, text(shortenedMark)), value);
};
