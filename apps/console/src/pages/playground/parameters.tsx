import { Slider } from '@base-ui/react/slider';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { jsonOf, type ChatSettings } from './chat-settings.ts';
import { NO_PARAMETERS, type ParameterTexts } from './stored-parameters.ts';

/** The fields as settings; JSON that is not valid is left out, and its field says so. */
export const settingsOf = (texts: ParameterTexts): Omit<ChatSettings, 'model'> => ({
  system: texts.system,
  temperature: numberOf(texts.temperature),
  maxTokens: numberOf(texts.maxTokens),
  tools: jsonOf(texts.tools, 'array').value as ChatSettings['tools'],
  schema: jsonOf(texts.schema, 'object').value as ChatSettings['schema'],
});

const TEMPERATURE_MAX = 2;
/** Where the slider stands while nothing is chosen; most models use it. */
const TEMPERATURE_USUAL = 1;

interface ParametersProps {
  readonly texts: ParameterTexts;
  readonly onChange: (texts: ParameterTexts) => void;
}

export function Parameters({ texts, onChange }: ParametersProps) {
  const { t } = useLanguage();
  const isWrong = t('playground.json.wrong');
  const temperature = numberOf(texts.temperature);
  return (
    <div className="form">
      <TextField
        label={t('playground.system')}
        placeholder={t('playground.system.placeholder')}
        render={<textarea rows={4} />}
        value={texts.system}
        onValueChange={(system) => onChange({ ...texts, system })}
      />
      <Slider.Root
        className="slider"
        min={0}
        max={TEMPERATURE_MAX}
        step={0.1}
        value={temperature ?? TEMPERATURE_USUAL}
        onValueChange={(value) => onChange({ ...texts, temperature: String(value) })}
      >
        <Slider.Label className="field-label">{t('playground.temperature')}</Slider.Label>
        <span className="slider-value">{temperature ?? t('playground.default')}</span>
        <Slider.Control className="slider-control">
          <Slider.Track className="slider-track">
            <Slider.Indicator className="slider-bar" />
            <Slider.Thumb className="slider-thumb" />
          </Slider.Track>
        </Slider.Control>
      </Slider.Root>
      <TextField
        label={t('playground.length')}
        placeholder={t('playground.length.default')}
        type="number"
        min={1}
        value={texts.maxTokens}
        onValueChange={(maxTokens) => onChange({ ...texts, maxTokens })}
      />
      <details className="details">
        <summary>{t('playground.advanced')}</summary>
        <div className="form">
          <TextField
            label={t('playground.tools')}
            hint={t('playground.tools.hint')}
            render={<textarea rows={3} spellCheck={false} />}
            value={texts.tools}
            problem={jsonOf(texts.tools, 'array').isWrong ? isWrong : undefined}
            onValueChange={(tools) => onChange({ ...texts, tools })}
          />
          <TextField
            label={t('playground.schema')}
            hint={t('playground.schema.hint')}
            render={<textarea rows={3} spellCheck={false} />}
            value={texts.schema}
            problem={jsonOf(texts.schema, 'object').isWrong ? isWrong : undefined}
            onValueChange={(schema) => onChange({ ...texts, schema })}
          />
        </div>
      </details>
      <Button
        kind="quiet"
        disabled={Object.values(texts).every((text) => text === '')}
        onClick={() => onChange(NO_PARAMETERS)}
      >
        {t('playground.reset')}
      </Button>
    </div>
  );
}

const numberOf = (text: string): number | undefined =>
  text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
