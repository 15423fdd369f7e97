import { openNumbersScene, type NumbersScene } from './numbers-scene.ts';

let scene: NumbersScene;
beforeAll(async () => {
  scene = await openNumbersScene({ SERVICE_MAX_BODY_BYTES: '1000000' });
});
afterAll(() => scene.close());

const numbers = (count: number): string =>
  `[${Array.from({ length: count }, () => '1.0').join(',')}]`;
const answerWith = (more: string): string =>
  `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5},"more":${more}}`;
const asking = (more: string): string =>
  `{"model":"m","messages":[{"role":"user","content":"Hi"}],"more":${more}}`;

test('a body with a hundred thousand of them passes, one with more is refused', async () => {
  const many = numbers(100_000);
  scene.answer(answerWith(many));
  expect(await scene.ask('/v1/chat/completions', asking(many))).toBe(answerWith(many));
  expect(scene.upstream.lastText()).toContain(`"more":${many}`);
  await expect(scene.ask('/v1/chat/completions', asking(numbers(100_001)))).rejects.toThrow(
    'the request body has too many long or unusual numbers',
  );
});

test('an answer with more of them is a failure of the upstream', async () => {
  scene.answer(answerWith(numbers(100_001)));
  await expect(scene.ask('/v1/chat/completions', asking('1'))).rejects.toThrow('502');
});
