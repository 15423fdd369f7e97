// `node apps/console/scripts/missing-texts.mjs`: the texts of each language that are not translated yet, and are shown in English.
import { de } from '../src/texts/de.ts';
import { en } from '../src/texts/en.ts';
import { zhHans } from '../src/texts/zh-hans.ts';

for (const [language, texts] of Object.entries({ de, 'zh-Hans': zhHans })) {
  const missing = Object.keys(en).filter((key) => !Object.hasOwn(texts, key));
  process.stdout.write(`${language}: ${missing.length} missing\n`);
  for (const key of missing) process.stdout.write(`  ${key}: ${JSON.stringify(en[key])}\n`);
}
