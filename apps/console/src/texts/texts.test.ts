import { de } from './de.ts';
import { en } from './en.ts';
import { createTranslate, languageOf, type Texts } from './texts.ts';
import { zhHans } from './zh-hans.ts';

const placeholders = (text: Texts[keyof Texts]): readonly string[] =>
  (typeof text === 'string' ? text : text.other).match(/\{\w+\}/g)?.toSorted() ?? [];

test.each([
  { language: 'German', texts: de },
  { language: 'Simplified Chinese', texts: zhHans },
])('$language has every text, with the same values in it, in the same order', ({ texts }) => {
  expect(Object.keys(texts)).toEqual(Object.keys(en));
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    expect([key, placeholders(texts[key])]).toEqual([key, placeholders(en[key])]);
    expect([key, texts[key]]).not.toEqual([key, '']);
  }
});

test('a number chooses the form of a text', () => {
  const t = createTranslate(en, 'en');
  expect(t('welcome.models.text', { count: 1 })).toBe('1 model can answer now.');
  expect(t('welcome.models.text', { count: 1200 })).toBe('1,200 models can answer now.');
  expect(createTranslate(zhHans, 'zh-Hans')('welcome.models.text', { count: 1 })).toContain('1 ');
});

test.each([
  { wanted: ['fr-CA', 'de-AT'], language: 'de' },
  { wanted: ['zh-CN'], language: 'zh-Hans' },
  { wanted: ['fr'], language: 'en' },
])('$wanted gives $language', ({ wanted, language }) => {
  expect(languageOf(wanted)).toBe(language);
});
