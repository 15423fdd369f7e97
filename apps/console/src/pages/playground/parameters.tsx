import { useLanguage } from '../../preferences/language.tsx';
import { TextField } from '../../ui/field.tsx';
import { jsonOf, type ChatSettings } from './chat-settings.ts';
import type { ParameterTexts } from './stored-parameters.ts';

/** The fields as settings; JSON that is not valid is left out, and its field says so. */
export const settingsOf = (texts: ParameterTexts): Omit<ChatSettings, 'model'> => ({
  system: texts.system,
  temperature: numberOf(texts.temperature),
  maxTokens: numberOf(texts.maxTokens),
  tools: jsonOf(texts.tools, 'array').value as ChatSettings['tools'],
  schema: jsonOf(texts.schema, 'object').value as ChatSettings['schema'],
});

interface ParametersProps {
  readonly texts: ParameterTexts;
  readonly onChange: (texts: ParameterTexts) => void;
}

export function Parameters({ texts, onChange }: ParametersProps) {
  const { t } = useLanguage();
  const isWrong = t('playground.json.wrong');
  return (
    <>
      <TextField
        label={t('playground.system')}
        render={<textarea rows={3} />}
        value={texts.system}
        onValueChange={(system) => onChange({ ...texts, system })}
      />
      <TextField
        label={t('playground.temperature')}
        type="number"
        min={0}
        max={2}
        step={0.1}
        value={texts.temperature}
        onValueChange={(temperature) => onChange({ ...texts, temperature })}
      />
      <TextField
        label={t('playground.max_tokens')}
        type="number"
        min={1}
        value={texts.maxTokens}
        onValueChange={(maxTokens) => onChange({ ...texts, maxTokens })}
      />
      <TextField
        label={t('playground.tools')}
        hint={t('playground.tools.hint')}
        render={<textarea rows={2} spellCheck={false} />}
        value={texts.tools}
        problem={jsonOf(texts.tools, 'array').isWrong ? isWrong : undefined}
        onValueChange={(tools) => onChange({ ...texts, tools })}
      />
      <TextField
        label={t('playground.schema')}
        hint={t('playground.schema.hint')}
        render={<textarea rows={2} spellCheck={false} />}
        value={texts.schema}
        problem={jsonOf(texts.schema, 'object').isWrong ? isWrong : undefined}
        onValueChange={(schema) => onChange({ ...texts, schema })}
      />
    </>
  );
}

const numberOf = (text: string): number | undefined =>
  text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
