import { composeAnswer, countCompletionTokens } from './answer.ts';
import { readChatRequest, type ChatRequest } from './chat-request.ts';

function request(content: unknown, more: object = {}): ChatRequest {
  const read = readChatRequest({
    model: 'demo-chat',
    messages: [{ role: 'user', content }],
    ...more,
  });
  if (typeof read === 'string') throw new Error(read);
  return read;
}

const text = (content: unknown, more: object = {}): string =>
  composeAnswer(request(content, more)).tokens.join('');

const head = (hex: string): string =>
  Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('base64');
const PNG = head('89504e470d0a1a0a 0000000d49484452 00000280 000001e0 0802000000');
const GIF = head('474946383961 4001 c800 00');
const JPEG = head(
  'ffd8 ffe0 0010 4a46494600010100000100010000 ffc4 0004 0000 ffc0 0011 08 0190 0258 03',
);
const WEBP_LOSSY = head('52494646 00000000 57454250 56503820 00000000 000000 9d012a 4001 f000');
const WEBP_LOSSLESS = head('52494646 00000000 57454250 5650384c 00000000 2f 3fc13b00 0000000000');
const WEBP_EXTENDED = head('52494646 00000000 57454250 56503858 0a000000 00000000 3f0100 ef0000');
const image = (url: string) => ({ type: 'image_url', image_url: { url } });

test.each([
  ['PNG, 640×480 pixels', `data:image/png;base64,${PNG}`],
  ['GIF, 320×200 pixels', `data:image/gif;base64,${GIF}`],
  ['JPEG, 600×400 pixels', `data:image/jpeg;base64,${JPEG}`],
  ['WebP, 320×240 pixels', `data:image/webp;base64,${WEBP_LOSSY}`],
  ['WebP, 320×240 pixels', `data:image/webp;base64,${WEBP_LOSSLESS}`],
  ['WebP, 320×240 pixels', `data:image/webp;base64,${WEBP_EXTENDED}`],
  ['image/png, whose size cannot be read', 'data:image/png;base64,AAAA'],
  ['a link', 'https://example.com/cat.png'],
])('an image is described as %s', (details, url) => {
  expect(text([{ type: 'text', text: 'Look' }, image(url)])).toContain(
    `You wrote: "Look". You also sent an image (${details}).`,
  );
});

test('the result of a call of the older form is answered', () => {
  const messages = [
    { role: 'user', content: 'Look!' },
    { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
    { role: 'function', name: 'look', content: 'a cat' },
  ];
  expect(text('', { messages })).toContain('The tool look answered: "a cat".');
});

test('images are counted, and other parts are named', () => {
  const parts = [
    image(`data:image/png;base64,${PNG}`),
    image('https://example.com/b.png'),
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'AAAA' } },
    { type: 'hologram' },
  ];
  const answer = composeAnswer(request(parts));
  expect(answer.tokens.join('')).toContain(
    'You also sent 2 images (PNG, 640×480 pixels; a link) and an audio recording (wav) and a file (a.pdf) and a part of an unknown type (hologram).',
  );
  expect(answer.promptTokens).toBe(5 * 85);
});

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' }, city: { type: 'string' } },
  required: ['name', 'age'],
};

test('a JSON answer satisfies its schema, with values from the message', () => {
  const response_format = { type: 'json_schema', json_schema: { name: 'person', schema: SCHEMA } };
  const answer = text('name: "Ann", age: 31, lives in Berlin', { response_format });
  expect(JSON.parse(answer)).toEqual({ name: 'Ann', age: 31, city: 'Berlin' });
  expect(text('x', { response_format })).toBe(text('x', { response_format }));
  const object = text('Hi', { response_format: { type: 'json_object' } });
  expect(JSON.parse(object)).toMatchObject({ question: 'Hi' });
});

test.each([
  [{ reasoning_effort: 'low' }, true],
  [{ reasoning_effort: 'none' }, false],
  [{ reasoning_effort: 'minimal' }, false],
  [{ reasoning: { effort: 'high' } }, true],
  [{ reasoning: { summary: 'auto' } }, true],
  [{ reasoning: { effort: 'none' } }, false],
  [{ reasoning: { enabled: false } }, false],
  [{ model: 'demo-reasoner' }, true],
  [{}, false],
])('with %j the model reasons: %s', (more, isReasoning) => {
  const answer = composeAnswer(request('Hi', more));
  expect(answer.reasoning.length > 0).toBe(isReasoning);
  expect(countCompletionTokens(answer)).toBe(answer.reasoning.length + answer.tokens.length);
});

test('the token limit includes the reasoning', () => {
  const more = { reasoning_effort: 'high' };
  const whole = composeAnswer(request('Hi', more));
  const thoughts = whole.reasoning.length;
  expect(composeAnswer(request('Hi', { ...more, max_tokens: 2 }))).toMatchObject({
    reasoning: whole.reasoning.slice(0, 2),
    tokens: [],
    finishReason: 'length',
  });
  expect(composeAnswer(request('Hi', { ...more, max_tokens: thoughts + 1 }))).toMatchObject({
    tokens: ['Hello!'],
    finishReason: 'length',
  });
});

test('an answer ends before the first of its stop texts', () => {
  const answer = composeAnswer(request('Hi', { stop: ['the built-in', 'demo-chat'] }));
  expect(answer).toMatchObject({ finishReason: 'stop' });
  expect(answer.tokens.join('').trim()).toBe('Hello! This is');
});
