import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startLink } from './link.ts';

test('bytes arrive in order over an unsteady link', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const link = await startLink((echo.address() as AddressInfo).port, Math.random);
  link.latency = 5;
  link.jitter = 10;
  const client = connect({ port: link.port, host: link.host, noDelay: true });
  let received = '';
  client.on('data', (chunk) => {
    received += chunk;
  });
  const sent = Array.from({ length: 300 }, (_, i) => `${i} `);
  for (const one of sent) {
    client.write(one);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (received.length < sent.join('').length) await once(client, 'data');
  assert.is(received, sent.join(''));
  client.destroy();
  await link.close();
  echo.close();
});

test.run();
