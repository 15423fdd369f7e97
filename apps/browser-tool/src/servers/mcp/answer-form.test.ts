import { answerForm, transportAccept } from './answer-form.ts';

const BOTH = 'application/json, text/event-stream';

test.each([
  { accept: 'application/json, text/event-stream', form: 'stream' },
  { accept: 'text/event-stream', form: 'stream' },
  { accept: 'Application/JSON;q=0.9', form: 'json' },
  { accept: 'application/*', form: 'json' },
  { accept: '*/*', form: 'json' },
  { accept: undefined, form: 'json' },
  { accept: 'text/html', form: 'stream' },
])('a client that accepts $accept gets the form $form', ({ accept, form }) => {
  expect(answerForm(accept)).toBe(form);
});

test.each([
  { accept: '*/*', form: 'json', sent: BOTH },
  { accept: '*/*', form: 'stream', sent: BOTH },
  { accept: 'text/*', form: 'stream', sent: BOTH },
  { accept: 'application/json', form: 'json', sent: BOTH },
  // The transport refuses these: the client could not read the answer.
  { accept: 'application/json', form: 'stream', sent: 'application/json' },
  { accept: 'text/html', form: 'json', sent: 'text/html' },
] as const)(
  'with answers in the form $form, the transport reads $accept as $sent',
  ({ accept, form, sent }) => {
    expect(transportAccept(accept, form)).toBe(sent);
  },
);
