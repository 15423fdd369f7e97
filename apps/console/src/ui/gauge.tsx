import { Meter } from '@base-ui/react/meter';

interface GaugeProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** Whether the label is only for screen readers, as where the column of a table says it. */
  readonly isLabelHidden?: boolean;
  /** The value in words, beside the label and for screen readers. */
  readonly text: string;
}

/** How far something is, or how busy, as a bar with its number. For what has a limit, see `Meter`. */
export function Gauge({ label, isLabelHidden = false, value, max, text }: GaugeProps) {
  return (
    <Meter.Root
      className="gauge"
      value={Math.min(value, max)}
      max={Math.max(max, 1)}
      getAriaValueText={() => text}
    >
      <Meter.Label className={isLabelHidden ? 'visually-hidden' : 'gauge-label'}>
        {label}
      </Meter.Label>
      <span className="gauge-value">{text}</span>
      <Meter.Track className="gauge-track">
        <Meter.Indicator className="gauge-bar" />
      </Meter.Track>
    </Meter.Root>
  );
}
