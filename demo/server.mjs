import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect } from './connect.mjs';

/** Starts the first Redis or Valkey server on the PATH, on a free port and without files; undefined if there is none. */
export async function startServer() {
  for (const program of ['redis-server', 'valkey-server']) {
    const port = await freePort();
    const child = spawn(
      program,
      ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      {
        stdio: 'ignore',
      },
    );
    const started = await once(child, 'spawn').catch(() => undefined);
    if (!started) continue;
    process.once('exit', () => child.kill('SIGKILL'));
    const url = `redis://127.0.0.1:${port}`;
    await answers(url, child);
    return { program, url, stop: () => child.kill('SIGKILL') };
  }
  return undefined;
}

/** Waits until the server replies. */
async function answers(url, child) {
  for (;;) {
    try {
      (await connect(url)).disconnect();
      return;
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`the server did not start: ${error.message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
