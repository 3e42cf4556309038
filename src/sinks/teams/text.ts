// Writes texts from outside so that Teams shows them as they are: no markup, mention or date comes of them.

/**
 * A text as Markdown that renders as that text. Underscores within words stay as they are, as in names of VMs.
 * Source: learn.microsoft.com, "Text features" of Adaptive Cards.
 * @param text on one line
 */
export const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\\`*[\]~#]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu, (run) => run.replaceAll('_', '\\_'))
    // `{{DATE(…)}}` becomes a date and `${…}` the value of a template before anyone reads Markdown.
    .replace(/(?<=[{$@])\{/g, '\\{')
    // Whoever looks for mentions does not care for escapes, so the sign itself has to go.
    .replace(/<(?=[a-z/!?])/gi, '‹')
    .replace(/&(?=\w+;)/g, '\\&')
    .replace(/^[-+>=|]/, '\\$&')
    .replace(/^(\d+)([.)])/, '$1\\$2');
