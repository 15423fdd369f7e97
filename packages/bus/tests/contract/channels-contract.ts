import type { Channels } from '@model-gateway/kernel';
import { eventually } from '../eventually.ts';
import { withSubject, type MakeSubject } from './subject.ts';

/** What every kind of channels does. */
export function describeChannels(name: string, make: MakeSubject<Channels>): void {
  describe(`channels: ${name}`, () => {
    test(
      'what is published after subscribing is delivered in order',
      withSubject(make, async (channels) => {
        const seen: string[] = [];
        await channels.subscribe('news', (message) => seen.push(message));
        const sent = Array.from({ length: 200 }, (_, index) => `message ${index}`);
        await Promise.all(sent.map((message) => channels.publish('news', message)));
        await eventually('all have arrived', () => seen.length === sent.length);
        expect(seen).toEqual(sent);
      }),
    );

    test(
      'a message reaches only its own channel, whatever its text',
      withSubject(make, async (channels) => {
        const seen: string[] = [];
        await channels.subscribe('one', (message) => seen.push(`one ${message}`));
        await channels.subscribe('two', (message) => seen.push(`two ${message}`));
        await channels.publish('one', '');
        await channels.publish('two', 'line\nbreak \u0000 “quotes” 🙂');
        await eventually('both have arrived', () => seen.length === 2);
        expect(seen).toEqual(['one ', 'two line\nbreak \u0000 “quotes” 🙂']);
      }),
    );

    test(
      'publishing without subscribers reaches none',
      withSubject(make, async (channels) => {
        expect(await channels.publish('empty', 'hello')).toBe(0);
        const subscription = await channels.subscribe('empty', () => undefined);
        expect(await channels.publish('empty', 'hello')).toBeGreaterThan(0);
        await subscription.close();
        await subscription.close();
        await eventually('no subscriber', async () => (await channels.publish('empty', 'x')) === 0);
      }),
    );

    test(
      'each listener of a channel gets a message once and leaves on its own',
      withSubject(make, async (channels) => {
        const seen: string[] = [];
        const listener = (message: string): void => void seen.push(message);
        const first = await channels.subscribe('shared', listener);
        const second = await channels.subscribe('shared', listener);
        await channels.publish('shared', 'both');
        await eventually('both got it', () => seen.length === 2);
        await first.close();
        await channels.publish('shared', 'second');
        await eventually('one got it', () => seen.length === 3);
        await second.close();
        await channels.publish('shared', 'none');
        expect(seen).toEqual(['both', 'both', 'second']);
      }),
    );

    test(
      'a listener that throws does not keep the message from the others',
      withSubject(make, async (channels) => {
        const seen: string[] = [];
        await channels.subscribe('fragile', () => {
          throw new Error('listener failed');
        });
        await channels.subscribe('fragile', (message) => seen.push(message));
        await channels.publish('fragile', 'first');
        await channels.publish('fragile', 'second');
        await eventually('the other got both', () => seen.length === 2);
      }),
    );

    test(
      'a listener that publishes does not overtake the message it is handed',
      withSubject(make, async (channels) => {
        const seen: string[] = [];
        await channels.subscribe('chain', (message) => {
          if (message === 'first') void channels.publish('chain', 'second');
        });
        await channels.subscribe('chain', (message) => seen.push(message));
        await channels.publish('chain', 'first');
        await eventually('both have arrived', () => seen.length === 2);
        expect(seen).toEqual(['first', 'second']);
      }),
    );

    test(
      'leaving and coming back at once ends with a live subscription',
      withSubject(make, async (channels) => {
        const seen: string[] = [];
        let current = await channels.subscribe('reopened', () => undefined);
        for (let round = 0; round < 20; round += 1) {
          const closing = current.close();
          const opening = channels.subscribe('reopened', (message) => seen.push(message));
          await Promise.all([closing, opening]);
          current = await opening;
          await channels.publish('reopened', `round ${round}`);
        }
        await eventually('every round was heard', () => seen.length === 20);
      }),
    );

    test(
      'many channels are subscribed at once',
      withSubject(make, async (channels) => {
        let seen = 0;
        const names = Array.from({ length: 2_500 }, (_, index) => `many ${index}`);
        const subscriptions = await Promise.all(
          names.map((channel) => channels.subscribe(channel, () => (seen += 1))),
        );
        await Promise.all(names.map((channel) => channels.publish(channel, 'hello')));
        await eventually('each channel was heard', () => seen === names.length);
        await Promise.all(subscriptions.map((subscription) => subscription.close()));
      }),
    );
  });
}
