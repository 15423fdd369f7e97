import {
  CALL_KEPT_MS,
  callOf,
  end,
  KEY,
  admittedCount,
  request,
  type On,
} from './admission-subject.ts';

/** Calls in flight. */
export function describeCalls(on: On): void {
  test(
    'of any number at once exactly as many calls begin as allowed, and each that ends makes room for one, once',
    on(async ({ admission }) => {
      const ids = Array.from({ length: 20 }, (_, index) => `call ${index}`);
      const begin = (id: string) =>
        admission.admit(request({ limits: [KEY], call: callOf(id, { callsMax: 5 }) }));
      const answers = await Promise.all(ids.map(begin));
      expect(admittedCount(answers)).toBe(5);
      expect(answers.at(-1)).toMatchObject({ outcome: 'busy', counted: [{ count: 5 }] });
      admission.endCall(end('call 0'));
      admission.endCall(end('call 0'));
      // Those that were busy did not count in the limit of 10: the sixth and the seventh of it follow.
      expect(await begin('another')).toMatchObject({ outcome: 'admitted', hasBegun: true });
      expect(await begin('one more')).toMatchObject({ outcome: 'busy' });
      expect(await begin('another')).toMatchObject({ outcome: 'admitted' });
      const elsewhere = callOf('call 0', { userId: 'other', callsMax: 1 });
      expect(await admission.admit(request({ call: elsewhere }))).toMatchObject({
        outcome: 'admitted',
      });
    }),
  );

  test(
    'a call that is not ended expires after 15 minutes, unless it is extended',
    on(async ({ admission, passTime }) => {
      const begin = (id: string) => admission.admit(request({ call: callOf(id, { callsMax: 2 }) }));
      await begin('lost');
      await begin('long');
      await passTime(CALL_KEPT_MS - 60_000);
      expect(await begin('more')).toMatchObject({ outcome: 'busy' });
      expect(await begin('long')).toMatchObject({ outcome: 'admitted' });
      await passTime(60_000);
      expect(await begin('more')).toMatchObject({ outcome: 'admitted' });
      expect(await begin('too many')).toMatchObject({ outcome: 'busy' });
    }),
  );
}
