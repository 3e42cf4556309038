// Serves a directory over TLS on 127.0.0.1; below /broken/ it hangs up half-way.
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';

const [directory = '', key = '', cert = ''] = process.argv.slice(2);
const server = createServer(
  { key: readFileSync(key), cert: readFileSync(cert) },
  ({ url = '/' }, response) => {
    const broken = url.startsWith('/broken/');
    const path = join(directory, normalize(broken ? url.slice('/broken'.length) : url));
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-length': size });
    if (!broken || path.endsWith('SHA256SUMS')) createReadStream(path).pipe(response);
    else response.write(readFileSync(path).subarray(0, size / 2), () => response.destroy());
  },
);
server.listen(0, '127.0.0.1', () => {
  console.log(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
