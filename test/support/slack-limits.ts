// Checks a message against the limits of Slack's Block Kit, as its documentation gives them and as its users met them.
import type { KnownBlock, MessageAttachment } from '@slack/types';

/** What is checked: what a webhook takes, and what the Web API takes beside its own arguments. */
export interface CheckedMessage {
  readonly text?: string;
  readonly blocks?: readonly KnownBlock[];
  readonly attachments?: readonly MessageAttachment[];
}

// docs.slack.dev, "Blocks", "Composition objects" and "chat.postMessage"; the last one: slackapi/bolt-js, issue 2509.
const limits = {
  textLength: 4_000,
  blocks: 50,
  attachments: 100,
  sectionTextLength: 3_000,
  fields: 10,
  fieldLength: 2_000,
  headerLength: 150,
  contextElements: 10,
  contextTextLength: 3_000,
  allTextLength: 12_000,
} as const;

/** Every limit that the message breaks, in words; none when Slack takes it. */
export function brokenLimits(message: CheckedMessage): string[] {
  const { text = '', blocks = [], attachments = [] } = message;
  const all = [...blocks, ...attachments.flatMap((attachment) => attachment.blocks ?? [])] as KnownBlock[];
  const length = all.flatMap(textsOf).reduce((sum, each) => sum + each.length, 0);
  return [
    ...between('text', text.length, 1, limits.textLength),
    ...between('blocks', all.length, 0, limits.blocks),
    ...between('attachments', attachments.length, 0, limits.attachments),
    ...between('text of all blocks', length, 0, limits.allTextLength),
    ...attachments.flatMap(({ color = '', fallback = '', blocks: own = [] }) => [
      ...between('blocks of an attachment', own.length, 1, limits.blocks),
      ...between('fallback', fallback.length, 1, limits.textLength),
      ...(/^#[0-9A-F]{6}$/i.test(color) ? [] : [`color ${color}`]),
    ]),
    ...all.flatMap(brokenIn),
  ];
}

const between = (what: string, value: number, min: number, max: number): string[] =>
  value < min || value > max ? [`${what}: ${value}`] : [];

function brokenIn(block: KnownBlock): string[] {
  if (block.type === 'section') {
    const { text, fields } = block;
    if (text === undefined && fields === undefined) return ['a section of nothing'];
    return [
      ...(text === undefined ? [] : between('section text', text.text.length, 1, limits.sectionTextLength)),
      ...(fields === undefined ? [] : between('fields', fields.length, 1, limits.fields)),
      ...(fields ?? []).flatMap((field) => between('field', field.text.length, 1, limits.fieldLength)),
    ];
  }
  if (block.type === 'header') return between('header', block.text.text.length, 1, limits.headerLength);
  if (block.type === 'context') {
    return [
      ...between('context elements', block.elements.length, 1, limits.contextElements),
      ...textsOf(block).flatMap((text) => between('context text', text.length, 1, limits.contextTextLength)),
    ];
  }
  return [`a block of type ${block.type}, which nobody checks`];
}

function textsOf(block: KnownBlock): string[] {
  if (block.type === 'section') {
    return [...(block.text === undefined ? [] : [block.text]), ...(block.fields ?? [])].map(
      ({ text }) => text,
    );
  }
  if (block.type === 'header') return [block.text.text];
  if (block.type !== 'context') return [];
  return block.elements.flatMap((element) => ('text' in element ? [element.text] : []));
}
