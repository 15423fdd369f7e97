import { usageEventSchema, type UsageEvent } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import type { Caller } from '../chat/caller.ts';
import { createUsageEventText } from './usage-event-text.ts';

const callers = fc.record({
  userId: fc.uuid({ version: 4 }),
  keyId: fc.option(fc.uuid({ version: 4 })),
  apiKeyId: fc.string({ maxLength: 64, unit: 'grapheme' }).filter((text) => text.length <= 64),
  project: fc.option(fc.string({ maxLength: 20, unit: 'binary' })),
  groupId: fc.option(fc.uuid({ version: 4 })),
  multiplier: fc.double({ min: 0, max: 1e6, noNaN: true }),
});
const counts = fc.nat({ max: Number.MAX_SAFE_INTEGER });

test('an event is the same text as JSON makes of it, whoever it is for and however often', () => {
  const textOf = createUsageEventText();
  const served = fc.record({
    id: fc.uuid({ version: 4 }),
    model: fc.string({ maxLength: 20, unit: 'binary' }),
    ref_id: fc.option(fc.string({ maxLength: 20, unit: 'binary' })),
    prompt_tokens: counts,
    completion_tokens: counts,
    cost: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
  });
  fc.assert(
    fc.property(callers, fc.array(served, { minLength: 1, maxLength: 3 }), (who, requests) => {
      const caller: Caller = { ...who, modelPolicy: null };
      for (const request of requests) {
        const event: UsageEvent = {
          ...request,
          user_id: who.userId,
          key_id: who.keyId,
          api_key_id: who.apiKeyId,
          project: who.project,
          group_id: who.groupId,
          multiplier: who.multiplier,
          backend: 'gateway',
          total_tokens: request.prompt_tokens,
          created_at: '2026-03-01T12:00:00.000Z',
        };
        const read: unknown = JSON.parse(textOf(event, caller));
        expect(read).toEqual(JSON.parse(JSON.stringify(event)));
        expect(usageEventSchema.safeParse(read).success).toBe(true);
      }
    }),
  );
});
