import { chatTurn } from '@model-gateway/dialects';
import { translatedTurn } from '../tests/translated-turn.ts';
import { withOneInstruction } from './system-messages.ts';

const message = (role: 'system' | 'user', content: string) => ({ role, content });

test('the instructions of a client of another API are one message, after what the gateway added', () => {
  const recall = message('system', 'Ann likes tea.');
  const rest = [
    message('user', 'Hi'),
    message('system', 'It is noon.'),
    message('system', 'Be quick.'),
  ];
  const two = [message('system', 'Be brief.'), message('system', 'Be kind.')];
  const body = { model: 'm', messages: [recall, ...two, ...rest] };
  expect(withOneInstruction(translatedTurn(body, [recall])).messages).toEqual([
    recall,
    message('system', 'Be brief.\n\nBe kind.'),
    ...rest,
  ]);
  expect(withOneInstruction(chatTurn(body))).toBe(body);
  const one = { model: 'm', messages: [recall, message('system', 'Be brief.'), ...rest] };
  expect(withOneInstruction(translatedTurn(one, [recall]))).toBe(one);
});
