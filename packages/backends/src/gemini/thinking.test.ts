import { thinkingOf } from './thinking.ts';

const turn = { messages: [], tools: [] };

test.each([
  // Budgets, within what each model takes.
  { model: 'gemini-2.5-flash', asked: { effort: 'low' }, config: { thinkingBudget: 1_024 } },
  {
    model: 'gemini-2.5-flash',
    asked: { budgetTokens: 31_999 },
    config: { thinkingBudget: 24_576 },
  },
  {
    model: 'gemini-2.5-flash-lite',
    asked: { effort: 'xhigh' },
    config: { thinkingBudget: 24_576 },
  },
  { model: 'gemini-2.5-pro', asked: { budgetTokens: 63_999 }, config: { thinkingBudget: 32_768 } },
  { model: 'gemini-3-pro-image', asked: { effort: 'high' }, config: { thinkingBudget: 24_576 } },
  // Levels.
  {
    model: 'gemini-3.1-pro-preview',
    asked: { effort: 'minimal' },
    config: { thinkingLevel: 'low' },
  },
  { model: 'gemini-3.5-flash', asked: { effort: 'minimal' }, config: { thinkingLevel: 'minimal' } },
  { model: 'gemini-3.8-flash', asked: { effort: 'minimal' }, config: { thinkingLevel: 'low' } },
  { model: 'gemini-3.8-flash', asked: { effort: 'medium' }, config: { thinkingLevel: 'medium' } },
  { model: 'gemini-flash-latest', asked: { effort: 'xhigh' }, config: { thinkingLevel: 'high' } },
  { model: 'gemini-4-hydrogen', asked: { effort: 'xhigh' }, config: { thinkingLevel: 'xhigh' } },
  { model: 'gemini-3.5-flash', asked: { budgetTokens: 2_000 }, config: { thinkingLevel: 'low' } },
  { model: 'gemini-3.5-flash', asked: { effort: 'other' }, config: {} },
])('$model thinks $asked', ({ model, asked, config }) => {
  expect(thinkingOf({ ...turn, model, reasoning: asked })).toEqual({
    config: { includeThoughts: true, ...config },
    isLeftOut: false,
  });
});

test.each([
  { model: 'gemini-2.5-flash', config: { thinkingBudget: 0 }, isLeftOut: false },
  { model: 'gemini-2.5-pro', config: { thinkingBudget: 128 }, isLeftOut: true },
  { model: 'gemini-3.5-flash', config: { thinkingLevel: 'minimal' }, isLeftOut: true },
  { model: 'gemini-3.1-pro-preview', config: { thinkingLevel: 'low' }, isLeftOut: true },
])('$model thinks as little as it can', ({ model, ...thinking }) => {
  expect(thinkingOf({ ...turn, model, reasoning: { effort: 'none' } })).toEqual(thinking);
});

test('a client that does not say gets what the model does by itself', () => {
  expect(thinkingOf({ ...turn, model: 'gemini-3.5-flash' })).toBeUndefined();
});
