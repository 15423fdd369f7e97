import type { ModelEntry } from '@model-gateway/contracts';
import { useMemo } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { Select } from '../../ui/select.tsx';

interface ModelPickerProps {
  readonly models: readonly ModelEntry[];
  readonly value: string;
  /** Whether it is the model to compare with. */
  readonly isSecond?: boolean;
  readonly isLabelHidden?: boolean;
  readonly onChange: (model: string) => void;
}

const MILLION = 1_000_000;

/** Chooses a model, with what it can do and what it costs. */
export function ModelPicker(props: ModelPickerProps) {
  const { models, value, isSecond = false, isLabelHidden = true, onChange } = props;
  const { t, format } = useLanguage();
  const choices = useMemo(() => {
    const priceOf = ({ pricing }: ModelEntry): string => {
      if (pricing === undefined) return '';
      const [input, output] = [Number(pricing.prompt), Number(pricing.completion)];
      if (input === 0 && output === 0) return t('playground.free');
      return t('playground.price', {
        input: format.money(input * MILLION),
        output: format.money(output * MILLION),
      });
    };
    return models.map((model) => ({
      value: model.id,
      label: model.id,
      detail: () =>
        [model.owned_by, model.capabilities.join(', '), priceOf(model)]
          .filter((part) => part !== '')
          .join(' · '),
    }));
  }, [models, t, format]);
  return (
    <Select
      label={t(isSecond ? 'playground.beside' : 'playground.model')}
      isLabelHidden={isLabelHidden}
      value={value}
      choices={choices}
      onChange={onChange}
    />
  );
}
