import { readListedModel } from './listed-model.ts';

test.each([
  ['a bare id', 'm', { id: 'm', contextLength: undefined }],
  ['an id', { id: 'm' }, { id: 'm', contextLength: undefined }],
  ['a name', { name: 'm' }, { id: 'm', contextLength: undefined }],
  ['a context length', { id: 'm', context_length: 8_192 }, { id: 'm', contextLength: 8_192 }],
  ['the field of vLLM', { id: 'm', max_model_len: 4_096 }, { id: 'm', contextLength: 4_096 }],
  ['the field of Groq', { id: 'm', context_window: 131_072 }, { id: 'm', contextLength: 131_072 }],
  [
    'the field of Mistral',
    { id: 'm', max_context_length: 32_768 },
    { id: 'm', contextLength: 32_768 },
  ],
  [
    'an unusable length',
    { id: 'm', context_length: 'long' },
    { id: 'm', contextLength: undefined },
  ],
  [
    'zero, then a length',
    { id: 'm', context_length: 0, max_model_len: 1 },
    { id: 'm', contextLength: 1 },
  ],
  ['no id', { object: 'model' }, undefined],
  ['null', null, undefined],
  ['a model that another gateway only suggests', { id: 'm', status: 'suggested' }, undefined],
  ['another status', { id: 'm', status: 'ready' }, { id: 'm', contextLength: undefined }],
])('an entry with %s', (_what, entry, expected) => {
  expect(readListedModel(entry)).toEqual(expected);
});
