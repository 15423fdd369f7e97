import './chart.css';
import { ChartColumn, Table2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { IconButton } from '../button.tsx';
import type { Plot } from './plot-options.ts';

interface ChartProps {
  readonly title: string;
  readonly plot: Plot;
  readonly height?: number;
}

const HEIGHT = 200;

// The library that draws is as large as a page.
const Canvas = lazy(async () => ({ default: (await import('./canvas.tsx')).Canvas }));
// Most people look at the chart only.
const ChartTable = lazy(async () => ({ default: (await import('./chart-table.tsx')).ChartTable }));

/** A chart over time with its legend, and the same numbers as a table. */
export function Chart({ title, plot, height = HEIGHT }: ChartProps) {
  const { t } = useLanguage();
  const [isTable, setTable] = useState(false);
  const Icon = isTable ? ChartColumn : Table2;
  return (
    <section className="chart" aria-label={title}>
      <header className="chart-head">
        <h2 className="chart-title">{title}</h2>
        <IconButton
          label={t(isTable ? 'chart.as_chart' : 'chart.as_table')}
          onClick={() => setTable(!isTable)}
        >
          <Icon aria-hidden size={16} />
        </IconButton>
      </header>
      <Suspense fallback={<div className="chart-wait" style={{ blockSize: height }} />}>
        {isTable ? (
          <ChartTable title={title} plot={plot} />
        ) : (
          <Canvas title={title} plot={plot} height={height} />
        )}
      </Suspense>
    </section>
  );
}
