import { priceParams } from './price-params.ts';

function formWith(values: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
}

const NEEDED = { pattern: ' mock-large ', input_per_million: '0.5', output_per_million: '0' };

test('fields that are empty are left out, and a price of 0 is a price', () => {
  expect(
    priceParams(formWith({ ...NEEDED, backend: '', cached_input_per_million: '' }), {}),
  ).toEqual({ pattern: 'mock-large', input_per_million: 0.5, output_per_million: 0 });
});

test('prices that the form does not show stay as they are', () => {
  const form = formWith({ ...NEEDED, backend: 'mock', cached_input_per_million: '0.1' });
  expect(priceParams(form, { per_image: 0.04, input_per_million: 9 })).toEqual({
    pattern: 'mock-large',
    backend: 'mock',
    input_per_million: 0.5,
    output_per_million: 0,
    cached_input_per_million: 0.1,
    per_image: 0.04,
  });
});
