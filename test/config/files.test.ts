// Whether every file that settings point to is found.
import { expect, test } from 'vitest';
import * as z from 'zod';
import { filesOf } from '../../src/config/files.ts';
import { secret } from '../../src/config/secret.ts';

test('the files of secrets and certificates are found at every depth, each once', () => {
  const settings = z.object({ secrets: z.array(secret()), headers: z.record(z.string(), secret()) }).parse({
    secrets: [{ file: '/a' }, { env: 'B' }, 'c'],
    headers: { authorization: { file: '/d' }, other: { file: '/a' } },
  });
  const sink = { ...settings, tls: { caFile: '/e', keyFile: '/f', passphrase: null }, path: '/not/watched' };
  expect(filesOf({ sink, nothing: undefined })).toEqual(['/a', '/d', '/e', '/f']);
});
