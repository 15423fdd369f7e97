import { systemClock } from '@model-gateway/kernel';
import { createCaptures } from '../../capture/captures.ts';
import type { CdpEvent } from '../cdp-connection.ts';
import { createNetworkCapture } from './network-capture.ts';

const sent = (requestId: string): CdpEvent =>
  ({
    method: 'Network.requestWillBeSent',
    params: {
      requestId,
      documentURL: 'http://site/',
      request: { url: 'http://site/json', method: 'GET', headers: { accept: '*/*' } },
      initiator: { type: 'script' },
    },
  }) as unknown as CdpEvent;

const withHeaders = (method: string, requestId: string, headers: object): CdpEvent =>
  ({ method, params: { requestId, headers } }) as unknown as CdpEvent;

test('headers that arrive before their request are kept for it', () => {
  const captures = createCaptures(systemClock);
  const capture = createNetworkCapture(captures);
  const cookies = { accept: '*/*', cookie: 'a=1' };
  capture.handle(withHeaders('Network.requestWillBeSentExtraInfo', '1', cookies));
  capture.handle(withHeaders('Network.responseReceivedExtraInfo', '1', { 'set-cookie': 'b=2' }));
  capture.handle(sent('1'));
  capture.handle(sent('2'));
  const [first, second] = captures.network.query({ limit: 2 }).resources;
  expect(captures.network.find(first?.id ?? '')).toMatchObject({
    request_headers: cookies,
    response_headers: { 'set-cookie': 'b=2' },
  });
  expect(captures.network.find(second?.id ?? '')).toMatchObject({
    request_headers: { accept: '*/*' },
    response_headers: {},
  });
});
