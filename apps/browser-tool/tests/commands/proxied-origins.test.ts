import { existsSync } from 'node:fs';
import { waitUntil } from '@model-gateway/testkit';
import { startHttpProxy, startSocksProxy, type Proxy } from '../resolve/proxies.ts';
import { page, startSite, type Site } from '../site.ts';
import { testBrowser } from '../test-browser.ts';
import { startTool } from '../tool.ts';

const CHROMIUM = '/usr/bin/chromium';
// The proxy resolves it to this machine.
const ALLOWED = 'allowed.test';

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/': page('Allowed', ''),
    '/done': (_request, response) => response.end('done'),
  });
});
afterAll(() => site.close());

/** Each way past the list of origins that pages have tried; all of them end before the promise does. */
const LEAK = `async (host) => {
  const http = 'http://' + host;
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-scripts';
  const loaded = new Promise((resolve) => { onmessage = resolve; });
  frame.srcdoc = '<img src="' + http + '/frame"><link rel=stylesheet href="' + http + '/style"><script src="' + http + '/script"><' + '/script>' +
    '<script>fetch("' + http + '/fetch").catch(() => 0).then(() => parent.postMessage(1, "*"))<' + '/script>';
  document.body.append(frame);
  const socket = new Promise((resolve) => { new WebSocket('ws://' + host + '/socket').onclose = resolve; });
  const source = 'onconnect = ({ ports: [port] }) => { try { importScripts("' + http + '/import") } catch {} ' +
    'fetch("' + http + '/shared", { mode: "no-cors" }).catch(() => 0).then(() => port.postMessage(1)) }';
  const worker = new SharedWorker('data:text/javascript,' + encodeURIComponent(source));
  const shared = new Promise((resolve) => { worker.port.onmessage = resolve; });
  const peer = new RTCPeerConnection({ iceServers: [{ urls: 'turn:' + host + ':3478?transport=tcp', username: 'u', credential: 'c' }] });
  peer.createDataChannel('x');
  const gathered = new Promise((resolve) => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve(); });
  await peer.setLocalDescription();
  await Promise.all([loaded, socket, shared, Promise.race([gathered, new Promise((resolve) => setTimeout(resolve, 2000))])]);
  return (await fetch('/done')).text();
}`;

const proxies = [
  {
    kind: 'http',
    login: ' ann:s:cret',
    start: startHttpProxy,
    url: (port: number) => `http://ann:s%3Acret@127.0.0.1:${port}`,
  },
  {
    kind: 'socks5',
    login: '',
    start: startSocksProxy,
    url: (port: number) => `socks5://127.0.0.1:${port}`,
  },
];
const browsers = [testBrowser(), ...(existsSync(CHROMIUM) ? [{ CHROMIUM_PATH: CHROMIUM }] : [])];

test.each(proxies.flatMap((each) => browsers.map((browser) => ({ ...each, browser }))))(
  'a $kind proxy gets only requests for allowed origins in $browser',
  async ({ start, url, login, browser }) => {
    const proxy: Proxy = await start({ knownName: ALLOWED });
    const origin = `http://${ALLOWED}:${site.port}`;
    const env = { ...browser, BROWSER_ALLOWED_ORIGINS: origin };
    const tool = await startTool({ env, proxy: url(proxy.port) });
    try {
      expect((await tool.open(`${origin}/`)).data).toMatchObject({ title: 'Allowed', status: 200 });
      const { data } = await tool.post('/evaluate', { function: LEAK, args: ['forbidden.test'] });
      expect(data).toMatchObject({ result: 'done' });
      // A WebSocket of an allowed origin is a tunnel.
      await tool.post('/evaluate', {
        expression: `new Promise((resolve) => { new WebSocket('ws://${ALLOWED}:${site.port}/').onclose = resolve })`,
      });
      const place = `${ALLOWED}:${site.port}`;
      await waitUntil(() => proxy.seen.some((line) => /^(CONNECT|SOCKS) /.test(line)));
      expect(proxy.seen.filter((line) => !line.includes(place))).toEqual([]);
      // The filter, not the browser, knows the password.
      const sent = proxy.seen.filter((line) => !line.endsWith(login));
      expect(sent).toEqual([]);
    } finally {
      await tool.close();
      await proxy.close();
    }
  },
);
