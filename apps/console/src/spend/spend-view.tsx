import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Chart } from '../ui/chart/chart.tsx';
import { Empty } from '../ui/empty.tsx';
import { Select } from '../ui/select.tsx';
import {
  DIMENSIONS,
  isRestUngrouped,
  seriesOf,
  type Dimension,
  type Measure,
  type SpendSeries,
} from './spend-series.ts';
import { useNames } from './use-names.ts';

interface MeasureChartProps {
  readonly data: SpendSeries;
  readonly by: Dimension;
  readonly measure: Measure;
  readonly height?: number;
}

/** One measure over time, divided by a dimension. */
export function MeasureChart({ data, by, measure, ...size }: MeasureChartProps) {
  const { t } = useLanguage();
  const nameOf = useNames();
  // A text, so that a chart is drawn again only when a name in it has changed.
  const names = JSON.stringify(
    data.parts.map(({ key }) => [
      key,
      nameOf(by, key, data.groups.find((group) => group.key === key)?.name),
    ]),
  );
  const rest = isRestUngrouped(data) ? nameOf(by, null) : t('chart.other');
  const plot = useMemo(
    () => ({
      kind: 'bars' as const,
      unit: measure === 'cost_usd' ? ('money' as const) : ('count' as const),
      times: data.times,
      from: data.from,
      to: data.to,
      isByDay: data.isByDay,
      series: seriesOf(data, measure, namesIn(names), rest),
    }),
    [data, measure, names, rest],
  );
  const title = t(data.isByDay ? 'spend.chart.day' : 'spend.chart.hour', {
    measure: t(`spend.measure.${measure}`),
  });
  return <Chart title={title} plot={plot} {...size} />;
}

function namesIn(text: string): (key: string) => string {
  const names = new Map(JSON.parse(text) as readonly (readonly [string, string])[]);
  return (key) => names.get(key) ?? key;
}

interface DimensionPickerProps {
  readonly value: Dimension;
  readonly onChange: (dimension: Dimension) => void;
}

/** By what the sums are divided. */
export function DimensionPicker({ value, onChange }: DimensionPickerProps) {
  const { t } = useLanguage();
  return (
    <Select
      label={t('spend.by')}
      isLabelHidden
      value={value}
      choices={DIMENSIONS.map((each) => ({ value: each, label: t(`spend.by.${each}`) }))}
      onChange={onChange}
    />
  );
}

/** In place of charts, where nothing was used. */
export function NoUsage() {
  const { t } = useLanguage();
  return (
    <Empty
      text={t('spend.empty')}
      action={
        <Link to="/playground" className="button button-primary">
          {t('usage.empty.action')}
        </Link>
      }
    />
  );
}
