// The least that polls as the agent does: node:http as CommonJS, one request a second, nothing else.
const http = require('node:http');

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const url = `${process.argv[2]}/metadata/scheduledevents?api-version=2020-07-01`;

function poll() {
  http.get(url, { agent, headers: { Metadata: 'true' } }, (response) => {
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (text) => {
      body += text;
    });
    response.on('end', () => JSON.parse(body));
  });
}

poll();
setInterval(poll, 1000);
