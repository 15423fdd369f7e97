import { chatSnippets } from './code-snippets.ts';

const request = {
  model: 'm',
  messages: [{ role: 'user', content: "What's this?", images: ['data:image/png;base64,AAAA'] }],
  temperature: 0.5,
  max_tokens: undefined,
  tools: [{ type: 'function', function: { name: 'look', strict: true } }],
  response_format: { type: 'json_schema' },
};
const codeOf = (name: string, chat: Parameters<typeof chatSnippets>[2] = request): string =>
  chatSnippets('https://gateway.example', 'service-1', chat).find((one) => one.name === name)
    ?.code ?? '';

test('the code sends the whole request: images, tools, the format of the answer', () => {
  const code = codeOf('curl');
  const json = /-d '([^]*)'$/.exec(code)?.[1]?.replaceAll(`'\\''`, "'") ?? '';
  expect(JSON.parse(json)).toEqual({
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: "What's this?" },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ],
    temperature: 0.5,
    tools: request.tools,
    response_format: { type: 'json_schema' },
    stream: true,
  });
});

test('Python has its own words for true and lists', () => {
  expect(codeOf('Python')).toContain(
    'tools=[{"type": "function", "function": {"name": "look", "strict": True}}],',
  );
});

test('a long image is shortened', () => {
  const images = [`data:image/jpeg;base64,${'A'.repeat(5000)}`];
  const code = codeOf('curl', { model: 'm', messages: [{ role: 'user', content: 'x', images }] });
  expect(code).toContain('"data:image/jpeg;base64,…"');
});
