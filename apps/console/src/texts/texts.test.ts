import { de } from './de.ts';
import { en } from './en.ts';
import { createTranslate, languageOf, loadTexts, type Texts } from './texts.ts';
import { zhHans } from './zh-hans.ts';

const placeholders = (text: Texts[keyof Texts]): readonly string[] =>
  (typeof text === 'string' ? text : text.other).match(/\{\w+\}/g)?.toSorted() ?? [];

test.each([
  { language: 'German', texts: de },
  { language: 'Simplified Chinese', texts: zhHans },
])('$language has no text that English lacks, and the same values in each', ({ texts }) => {
  for (const [name, text] of Object.entries(texts)) {
    const original = en[name as keyof typeof en];
    expect([name, original === undefined]).toEqual([name, false]);
    expect([name, placeholders(text)]).toEqual([name, placeholders(original)]);
    expect([name, text]).not.toEqual([name, '']);
  }
});

test('a text without a translation is shown in English', async () => {
  const german = await loadTexts('de');
  expect(Object.keys(german)).toEqual(expect.arrayContaining(Object.keys(en)));
  expect(german['action.cancel']).toBe('Abbrechen');
});

test('a number chooses the form of a text', () => {
  const t = createTranslate(en, 'en');
  expect(t('welcome.models.text', { count: 1 })).toBe('1 model can answer now.');
  expect(t('welcome.models.text', { count: 1200 })).toBe('1,200 models can answer now.');
  expect(
    createTranslate({ ...en, ...zhHans }, 'zh-Hans')('welcome.models.text', { count: 1 }),
  ).toContain('1 ');
});

test.each([
  { wanted: ['fr-CA', 'de-AT'], language: 'de' },
  { wanted: ['zh-CN'], language: 'zh-Hans' },
  { wanted: ['fr'], language: 'en' },
])('$wanted gives $language', ({ wanted, language }) => {
  expect(languageOf(wanted)).toBe(language);
});
