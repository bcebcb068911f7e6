import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * Starts a local HTTP API that allows `permits` calls in any window of `interval` ms, by their arrival, and replies 429 to all
 * others. It is independent of the limiter. The path of a call contains its process.
 */
export async function startApi({ permits, interval, onCall }) {
  const allowed = [];
  const server = createServer((request, response) => {
    const now = performance.now();
    while (allowed.length > 0 && allowed[0] <= now - interval) allowed.shift();
    const status = allowed.length < permits ? 200 : 429;
    if (status === 200) allowed.push(now);
    onCall(status, Number(request.url.split('/')[1]));
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
