import type { Requests } from '@model-gateway/kernel';
import { withSubject, type MakeSubject } from './subject.ts';

const TIMEOUT_MS = 20_000;

/** Two ends of request and reply: in one process, or in two. */
export interface RequestEnds {
  readonly caller: Requests;
  readonly server: Requests;
}

/** What request and reply does over every kind of channels. */
export function describeRequests(name: string, make: MakeSubject<RequestEnds>): void {
  describe(`requests: ${name}`, () => {
    test(
      'a call is answered by the process that serves the address',
      withSubject(make, async ({ caller, server }) => {
        await server.serve('agent:1', (payload) => Promise.resolve({ echo: payload }));
        await server.serve('agent:2', () => Promise.resolve(undefined));
        const calls = Array.from({ length: 50 }, (_, index) =>
          caller.call('agent:1', { index }, { timeoutMs: TIMEOUT_MS }),
        );
        expect(await Promise.all(calls)).toEqual(
          Array.from({ length: 50 }, (_, index) => ({ echo: { index } })),
        );
        expect(await caller.call('agent:2', null, { timeoutMs: TIMEOUT_MS })).toBeUndefined();
      }),
    );

    test(
      'a call to an address that no process serves fails at once',
      withSubject(make, async ({ caller, server }) => {
        const call = (): Promise<unknown> =>
          caller.call('agent:gone', {}, { timeoutMs: TIMEOUT_MS });
        await expect(call()).rejects.toMatchObject({ name: 'RequestError', reason: 'unreachable' });
        const served = await server.serve('agent:gone', () => Promise.resolve('here'));
        expect(await call()).toBe('here');
        await served.close();
        await expect(call()).rejects.toMatchObject({ reason: 'unreachable' });
      }),
    );

    test(
      'a call that is not answered in time times out, and the late answer is ignored',
      withSubject(make, async ({ caller, server }) => {
        let answerLate: (value: string) => void = () => undefined;
        await server.serve('agent:slow', () => new Promise((resolve) => (answerLate = resolve)));
        await expect(caller.call('agent:slow', {}, { timeoutMs: 50 })).rejects.toMatchObject({
          reason: 'timeout',
        });
        answerLate('too late');
        await server.serve('agent:quick', () => Promise.resolve('in time'));
        expect(await caller.call('agent:quick', {}, { timeoutMs: TIMEOUT_MS })).toBe('in time');
      }),
    );

    test(
      'an error on the answering side arrives as its message alone',
      withSubject(make, async ({ caller, server }) => {
        await server.serve('agent:broken', () =>
          Promise.reject(new Error('engine is out of memory')),
        );
        await expect(
          caller.call('agent:broken', {}, { timeoutMs: TIMEOUT_MS }),
        ).rejects.toMatchObject({ reason: 'failed', message: 'engine is out of memory' });
      }),
    );

    test(
      'of several that serve one address the first answer counts',
      withSubject(make, async ({ caller, server }) => {
        await server.serve('agent:both', () => new Promise(() => undefined));
        await server.serve('agent:both', () => Promise.resolve('second'));
        expect(await caller.call('agent:both', {}, { timeoutMs: TIMEOUT_MS })).toBe('second');
      }),
    );
  });
}
