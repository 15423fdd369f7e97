import { Meter as BaseMeter } from '@base-ui/react/meter';
import { useLanguage } from '../preferences/language.tsx';

interface MeterProps {
  readonly label: string;
  readonly used: number;
  /** Null without a limit. */
  readonly limit: number | null;
  readonly format: (value: number) => string;
}

const SHARE_NEAR = 0.8;

/** How much of a limit is used, as a bar and in words. */
export function Meter({ label, used, limit, format }: MeterProps) {
  const { t } = useLanguage();
  const share = limit === null || limit === 0 ? (limit === 0 ? 1 : 0) : used / limit;
  const state = share >= 1 ? 'bad' : share >= SHARE_NEAR ? 'warning' : 'good';
  const text =
    limit === null
      ? t('meter.unlimited', { used: format(used) })
      : t('meter.used', { used: format(used), limit: format(limit) });
  return (
    <BaseMeter.Root
      className="meter"
      value={Math.min(100, share * 100)}
      getAriaValueText={() => text}
    >
      <div className="meter-head">
        <BaseMeter.Label className="meter-label">{label}</BaseMeter.Label>
        <span className="meter-text">
          {text}
          {share >= 1 ? ` – ${t('meter.over')}` : null}
        </span>
      </div>
      <BaseMeter.Track className="meter-track">
        <BaseMeter.Indicator className={`meter-bar meter-${state}`} />
      </BaseMeter.Track>
    </BaseMeter.Root>
  );
}
