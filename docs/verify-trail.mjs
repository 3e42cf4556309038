// Verifies an exported audit trail without the program that wrote it: little to read, nothing to install but Node 22.
//   node verify-trail.mjs FOLDER --key KEY [--key KEY]... [--anchors FILE]
// FOLDER is the exported trail. KEY is a verifier key, name+id+base64, from somebody you trust and not from the folder.
// FILE holds signed heads that were kept elsewhere. Every folder with entries is a stream, and a Merkle tree as in
// RFC 6962: its leaves are sequence number, enqueued time and SHA-256 of the body of each entry, and checkpoints.notes
// holds heads of the tree as C2SP signed notes. The seal stream names the heads of all streams, and the journal stream
// says what is missing and why. Memory grows with what is missing and with FILE, not with the trail.
// Exit code: 0 verified, 10 somebody changed it, 11 something is missing or cannot be proven, 2 a wrong call.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { join, sep } from 'node:path';

const [folder = '', ...words] = process.argv.slice(2);
const given = (name) => words.filter((_, place) => words[place - 1] === name);
const fail = (text) => process.exit(console.error(text) ?? 2);
const found = { TAMPERED: new Set(), INCOMPLETE: new Set() };
const say = (word, name, text) => found[word].size < 100 && found[word].add(`${word} ${name}: ${text}`);
const check = (isRight, name, text) => isRight || say('TAMPERED', name, text);
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const nodeHash = (right, left) => sha256('\x01', left, right);
const rootOf = ({ range }) => (range.length > 0 ? range.reduceRight(nodeHash) : sha256()).toString('base64');

function readKey(text) {
  const [, name, id, encoded = ''] = /^(.+?)\+(.{8})\+(.+)$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes[0] !== 1 || sha256(`${name}\n`, bytes).toString('hex', 0, 4) !== id) fail(`${text} is no key`);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url', 1) };
  return [`${name} ${id}`, createPublicKey({ key: jwk, format: 'jwk' })];
}

function* linesOf(path) {
  const [file, chunk] = [openSync(path), Buffer.alloc(1 << 16)];
  let rest = '';
  for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
    const lines = (rest + chunk.toString('latin1', 0, length)).split('\n');
    rest = lines.pop();
    for (const line of lines) yield Buffer.from(line, 'latin1').toString();
  }
  if (rest !== '') say('INCOMPLETE', path, 'it ends within a line');
  closeSync(file);
}

function readJson(text = '') {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

const shape =
  /^{"index":\d+,"sequenceNumber":\d+,"enqueuedMs":\d+,"bodySha256":"[^"]+"(}$|,"body":"|,"bodyBase64":")/;

function* entriesOf(paths) {
  for (const line of paths.values().flatMap(linesOf)) {
    const entry = readJson(line);
    // In the very bytes in which it was written: what people read in the file must be what is verified here.
    const isEntry = shape.test(line) && Object.keys(entry).length < 6 && JSON.stringify(entry) === line;
    check(isEntry, line.slice(0, 200), 'this line is no entry');
    yield entry;
  }
}

const isSaid = (kind, name, first, last) =>
  facts.some((fact) => fact.kind === kind && fact.stream === name && fact.from <= first && last <= fact.to);

/** Texts and the signatures below them, an empty line behind each. */
function* notesOf(paths) {
  let [text, block] = ['', ''];
  for (const line of paths.values().flatMap(linesOf)) {
    if (line !== '') block += `${line}\n`;
    else if (block.startsWith('— ')) yield readNote(text, block);
    else text = block;
    if (line === '') block = '';
  }
  if (block !== '') yield readNote(text, block);
}

function readNote(text, signatures) {
  const [origin, size, root] = text.split('\n');
  const isSigned = signatures.split('\n').some((line) => {
    const [, name, encoded = ''] = line.split(' ');
    const bytes = Buffer.from(encoded, 'base64');
    const key = keys.get(`${name} ${bytes.toString('hex', 0, 4)}`);
    const isRight = key !== undefined && verify(null, Buffer.from(text), key, bytes.subarray(4));
    check(isRight || key === undefined, origin, `its head of size ${size} has a wrong signature`);
    return isRight;
  });
  return { origin, size: Number(size), root, isSigned };
}

/** Compares a head with the entries of its stream so far. */
function compare(stream, head, what) {
  const { name, size } = stream;
  check(head.origin === name && head.size === size, name, `a head of ${head.size} entries is out of place`);
  check(head.root === rootOf(stream), name, `its first ${size} entries are not those that were ${what}`);
  if (head.isSigned) stream[what] = size;
}

/** Takes one more entry of a stream into its tree; false at its end. */
function step(stream) {
  const { name, size, last, range, heads } = stream;
  for (stream.head ??= heads.next().value; stream.head?.size <= size; stream.head = heads.next().value) {
    compare(stream, stream.head, 'signed');
  }
  const entry = stream.entries.next().value;
  if (entry === undefined) return false;
  const { index, sequenceNumber: number, enqueuedMs, bodySha256, body, bodyBase64 } = entry;
  check(index === size, name, `entry ${index} stands where entry ${size} belongs`);
  check(number > last, name, `entry ${index} has sequence number ${number}, behind ${last}`);
  if (number > last + 1 && !isSaid('stream-began', name, last + 1, number - 1)) {
    const why = isSaid('gap', name, last + 1, number - 1) ? 'the hub had lost them' : 'nothing says why';
    say('INCOMPLETE', name, `sequence numbers ${last + 1} to ${number - 1} are missing: ${why}`);
  }
  const bytes = body ?? (bodyBase64 && Buffer.from(bodyBase64, 'base64'));
  if (bytes === undefined)
    check(isSaid('pruned', name, index, index), name, `entry ${index} has lost its body`);
  else check(sha256(bytes).toString('base64') === bodySha256, name, `the body of entry ${index} was changed`);
  let hash = sha256('\0', `seb.leaf.v1\n${number}\n${enqueuedMs}\n${bodySha256}\n`);
  for (let bits = size; bits % 2 === 1; bits = (bits - 1) / 2) hash = nodeHash(hash, range.pop());
  range.push(hash);
  return Object.assign(stream, { size: size + 1, last: number, entry });
}

const keys = new Map(given('--key').map(readKey));
const isCalled = keys.size > 0 && [folder, ...given('--anchors')].every((path) => existsSync(path));
if (!isCalled) fail('usage: node verify-trail.mjs FOLDER --key KEY [--key KEY]... [--anchors FILE]');
const parts = /^(.+?).(\d{4}.\d\d.\d\d.entries-\d+\.jsonl|checkpoints(-\d+)?\.notes)$/;
const [streams, start, facts] = [new Map(), { size: 0, last: -1, signed: 0, anchored: 0 }, []];
for (const path of readdirSync(folder, { recursive: true }).sort()) {
  const [, place, file] = parts.exec(path) ?? [];
  if (place === undefined) continue;
  const name = place.replaceAll(sep, '/');
  const stream = streams.get(name) ?? { ...start, name, files: [], notes: [], range: [] };
  const kept = file.startsWith('checkpoints') ? stream.notes : stream.files;
  kept[file.startsWith('checkpoints.') ? 'unshift' : 'push'](join(folder, path));
  streams.set(name, stream);
}
const all = [...streams.values()];
if (all.length === 0) fail(`${folder} holds no trail`);
for (const stream of all) {
  Object.assign(stream, { entries: entriesOf(stream.files), heads: notesOf(stream.notes) });
  for (const { body } of stream.name.endsWith('/journal') ? entriesOf(stream.files) : []) {
    const fact = readJson(body);
    if (fact.kind === 'stream-began') Object.assign(fact, { from: 0, to: fact.firstSequenceNumber - 1 });
    if (/^(gap|pruned|stream-began|restored)$/.test(fact.kind)) facts.push(fact);
    const [head, signatures] = String(fact.note).split('\n\n');
    const isVouched =
      head === `${fact.stream}\n${fact.size}\n${fact.root}` && readNote(`${head}\n`, signatures).isSigned;
    if (fact.kind === 'unvouched' && !isVouched)
      say('INCOMPLETE', fact.stream, `none of the keys signed its head of size ${fact.size}`);
  }
}
const anchors = [...notesOf(given('--anchors'))];
for (const { origin } of anchors) check(streams.has(origin), origin, 'it was anchored, and is not here');

const allSeals = all.filter(({ name }) => /^trail\/.+\/seal$/.test(name));
for (const seals of allSeals) {
  const others = anchors.filter(({ origin }) => origin === seals.name);
  while (step(seals)) {
    for (const head of others) if (head.size === seals.size) compare(seals, head, 'anchored');
    for (const { stream: name, size, root } of [readJson(seals.entry.body).heads].flat().map(Object)) {
      const stream = streams.get(name) ?? { range: [] };
      while (stream.size < size && step(stream));
      const isRight = stream.size === size && rootOf(stream) === root;
      check(isRight, name, `its first ${size} entries are not those of seal ${seals.entry.index}`);
    }
  }
  const isRestored = facts.some(({ earlier }) => seals.name === `trail/${earlier}/seal`);
  if (isRestored) say('INCOMPLETE', seals.name, 'what followed is lost: an older copy was put back');
  else for (const { size } of others) check(size <= seals.size, seals.name, `${size} seals were anchored`);
}
for (const stream of all) {
  while (step(stream));
  const { name, size, last, signed, anchored, head } = stream;
  check(head === undefined, name, `a head speaks of ${head?.size} entries, and only ${size} are here`);
  if (signed < size) say('INCOMPLETE', name, `none of the keys signed its last ${size - signed} entries`);
  console.log(
    `${name}: ${size} entries up to sequence number ${last}, ${signed} signed, ${anchored} anchored`,
  );
}
if (allSeals.every(({ anchored }) => anchored === 0))
  say('INCOMPLETE', folder, 'without --anchors nobody can say whether the end was cut off');
const word = Object.keys(found).find((each) => found[each].size > 0) ?? 'VERIFIED';
for (const text of [...found.TAMPERED, ...found.INCOMPLETE]) console.log(text);
console.log(`${word}: ${all.length} streams, ${keys.size} keys, ${anchors.length} anchors`);
process.exitCode = { TAMPERED: 10, INCOMPLETE: 11, VERIFIED: 0 }[word];
