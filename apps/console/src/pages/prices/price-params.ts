import type { PriceRecord, RpcInput } from '@model-gateway/contracts';
import { trimmedText } from '../../ui/form-text.ts';

type Params = RpcInput<'billing.pricing.set'>;

/** Prices that the form does not show: they stay as they are. */
const UNSHOWN = [
  'cache_write_per_million',
  'audio_input_per_million',
  'audio_output_per_million',
  'cached_audio_input_per_million',
  'image_output_per_million',
  'per_image',
  'per_minute_audio',
  'per_request',
] as const;

/** The params that set the price in a form, which replaces the earlier price of the same models. */
export function priceParams(form: FormData, earlier: Partial<PriceRecord>): Params {
  const usd = (name: string): number => Number(trimmedText(form, name));
  const backend = trimmedText(form, 'backend');
  const isGiven = trimmedText(form, 'cached_input_per_million') !== '';
  return {
    ...Object.fromEntries(UNSHOWN.flatMap((name) => entryOf(name, earlier[name]))),
    pattern: trimmedText(form, 'pattern'),
    ...(backend === '' ? {} : { backend }),
    input_per_million: usd('input_per_million'),
    output_per_million: usd('output_per_million'),
    ...(isGiven ? { cached_input_per_million: usd('cached_input_per_million') } : {}),
  };
}

const entryOf = <Value>(name: string, value: Value | undefined) =>
  value === undefined ? [] : [[name, value] as const];
