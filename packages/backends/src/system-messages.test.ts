import { withOrigin } from '@model-gateway/dialects';
import { withOneInstruction } from './system-messages.ts';

const origin = { api: 'messages', value: {} };
const own = (role: string, content: unknown) => withOrigin({ role, content }, origin);
const message = (role: string, content: unknown) => ({ role, content });

test('the instructions of a client of another API are one message, after what the gateway added', () => {
  const recall = message('system', 'Ann likes tea.');
  const rest = [own('user', 'Hi'), own('system', 'It is noon.'), own('system', 'Be quick.')];
  const messages = [recall, own('system', 'Be brief.'), own('system', 'Be kind.'), ...rest];
  expect(withOneInstruction({ model: 'm', messages }).messages).toEqual([
    recall,
    own('system', 'Be brief.\n\nBe kind.'),
    ...rest,
  ]);
  const body = { model: 'm', messages: [recall, own('system', 'Be brief.'), ...rest] };
  expect(withOneInstruction(body)).toBe(body);
});
