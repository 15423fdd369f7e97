import { upstreamCompletionSchema } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { isWholeCompletion } from './whole-completion.ts';

const whole = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

test('an answer with everything in it is whole', () => {
  expect(isWholeCompletion({ ...whole, system_fingerprint: 'x' })).toBe(true);
});

test.each(Object.keys(whole))('an answer without %s is not', (field) => {
  expect(isWholeCompletion({ ...whole, [field]: undefined })).toBe(false);
});

test('what is called whole is what the schema accepts', () => {
  const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('chat.completion', 0, -1, 1.5, null));
  const broken = fc.record(
    {
      id: odd,
      object: odd,
      created: odd,
      model: odd,
      choices: fc.oneof(
        odd,
        fc.array(fc.record({ index: odd, message: odd, finish_reason: odd }, { requiredKeys: [] })),
      ),
      usage: fc.oneof(
        odd,
        fc.record({ prompt_tokens: odd, completion_tokens: odd, total_tokens: odd }),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(broken, (fields) => {
      const body = { ...whole, ...fields };
      const isAccepted = upstreamCompletionSchema.safeParse(body).success;
      expect(isAccepted || !isWholeCompletion(body)).toBe(true);
    }),
  );
});
