import { silentLog } from '@model-gateway/kernel';
import { expectRecorded } from '@model-gateway/testkit';
import { createBrowserTool } from '../../src/app.ts';
import { readBrowserToolConfig } from '../../src/config.ts';
import { startMcpHttpServer } from '../../src/servers/http/mcp-server.ts';
import { sendRaw } from '../interfaces/raw-request.ts';
import { FULL, recorded } from './scene.ts';
import { createSteady } from './steady.ts';

test('MCP over HTTP', async () => {
  const config = readBrowserToolConfig({
    BROWSER_SKIP_BROWSER_FETCH: '1',
    CHROMIUM_PATH: '/no/such/browser',
  });
  const server = await startMcpHttpServer({
    host: '127.0.0.1',
    port: 0,
    token: 'secret',
    allowedHosts: [],
    sessionsMax: 2,
    idleMs: 3_600_000,
    createTool: () => createBrowserTool({ config, log: silentLog, proxy: undefined }),
    log: silentLog,
  });
  const steady = createSteady({ MCP: server.port });
  const answers = new Map<string, unknown>();
  const both = 'application/json, text/event-stream';
  let session = '';
  const send = async (method: string, path: string, headers: object, body = ''): Promise<void> => {
    const sent: Record<string, string> = {
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      accept: both,
      ...headers,
    };
    const answer = await sendRaw(server.port, { method, path, headers: sent, body });
    // How the body is framed on the connection is no part of the answer.
    const {
      date: _date,
      'content-length': _length,
      'transfer-encoding': _encoding,
      ...fields
    } = answer.headers;
    session = String(answer.headers['mcp-session-id'] ?? session);
    const text = String(steady(`${method} ${path} ${JSON.stringify(headers)} ${body}`));
    const times = [...answers.keys()].filter((each) => each.replace(/ \(\d+\)$/, '') === text);
    const question = times.length === 0 ? text : `${text} (${times.length + 1})`;
    answers.set(question, steady({ status: answer.status, headers: fields, body: answer.body }));
  };
  const clientInfo = { name: 'by hand', version: '1' };
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  const message = (method: string, params: object = {}): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 2, method, params });
  try {
    await send('GET', '/health', {});
    await send('GET', '/nowhere', {});
    await send('POST', '/health', {});
    await send('PUT', '/mcp', {});
    await send('GET', '/mcp', {});
    await send('DELETE', '/mcp', {});
    await send('POST', '/mcp', {}, '{');
    await send('POST', '/mcp', {}, '{}');
    await send('POST', '/mcp', { authorization: 'Bearer wrong' }, initialize);
    await send('POST', '/mcp', { origin: 'https://evil.example' }, initialize);
    await send('POST', '/mcp', { host: 'evil.example' }, initialize);
    await send('POST', '/mcp', { 'mcp-session-id': 'unknown' }, message('tools/list'));
    for (const accept of [both, 'application/json', '*/*', 'text/event-stream', 'text/html']) {
      await send('POST', '/mcp', { accept }, initialize);
      await send('POST', '/mcp', { accept, 'mcp-session-id': session }, message('ping'));
      await send('POST', '/mcp', { 'mcp-session-id': session }, '{');
      await send(
        'POST',
        '/mcp',
        { 'mcp-session-id': session, 'mcp-protocol-version': '1999-01-01' },
        message('ping'),
      );
      await send(
        'POST',
        '/mcp',
        { 'mcp-session-id': session, 'content-type': 'text/plain' },
        message('ping'),
      );
      await send(
        'POST',
        '/mcp',
        { 'mcp-session-id': session },
        message('tools/call', { name: 'browser_snapshot' }),
      );
      await send('POST', '/mcp', { 'mcp-session-id': session }, initialize);
      await send('DELETE', '/mcp', { 'mcp-session-id': session });
      await send('POST', '/mcp', { 'mcp-session-id': session }, message('ping'));
    }
    await send('POST', '/mcp', {}, `[${initialize}]`);
    await send('GET', '/health', {});
  } finally {
    await server.close();
  }
  await expectRecorded(recorded('mcp-http'), answers, FULL);
}, 240_000);
