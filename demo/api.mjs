import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * Starts an HTTP API on this machine that allows so many calls in any window of `interval` ms, by the time at which they
 * arrive, and answers 429 to all others. It knows nothing of the limiter. A call names its process in the path.
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
